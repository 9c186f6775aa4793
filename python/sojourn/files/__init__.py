"""Files of the user and of third parties: read without surprises, written whole or not at all.

Names are literal: no pattern, no ``~``, no ``file:``, and bytes that are not UTF-8 as `os.fsencode` has them.

Each file or folder is staged beside its place under a random name, and moved there in one step when it is
complete and on the disk. A killed process leaves a stage: the next one that writes there removes it, or moves
it to its place if it is whole and nothing is there.
"""

from sojourn.files.names import part_of_name, parts_of_names
from sojourn.files.places import (
    Claim,
    Found,
    Written,
    beside,
    claim,
    foreign,
    identity,
    probe,
    put_folder,
    sweep,
)
from sojourn.files.reading import NotAFile, is_stream, opened, read
from sojourn.files.writing import (
    Moved,
    adopt,
    create,
    folder_above,
    locked,
    probe_file,
    remove_stages,
    replace,
    sync,
    why,
)

__all__ = [
    "Claim",
    "Found",
    "Moved",
    "NotAFile",
    "Written",
    "adopt",
    "beside",
    "claim",
    "create",
    "folder_above",
    "foreign",
    "identity",
    "is_stream",
    "locked",
    "opened",
    "part_of_name",
    "parts_of_names",
    "probe",
    "probe_file",
    "put_folder",
    "read",
    "remove_stages",
    "replace",
    "sweep",
    "sync",
    "why",
]
