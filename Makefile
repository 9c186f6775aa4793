# `check` while you work, `test` before you hand in. The work is done by ci.sh.
.DEFAULT_GOAL := help
.PHONY: help demo check test bench behaviour figures kills live engines parameter peers kernel-check flent-check fuzz docs dist clean

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):  *## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | awk -F '\t' '{ printf "  make %-12s %s\n", $$1, $$2 }'

demo:  ## set up, run a home in the evening without and with fair queueing, write a page that compares them
	@./ci.sh demo

check:  ## while you work: set up and run the quick checks, in some minutes
	@./ci.sh check

test:  ## before you hand in: set up and run every check and test
	@./ci.sh test

bench:  ## cost of each law, of many queues, of a simulated packet and of a live one, beside ns-2's and ns-3's where they are installed; large networks; a sweep
	@./ci.sh bench

behaviour:  ## run every law on three links and print its behaviour
	@./ci.sh behaviour

figures:  ## repeat the runs whose figures the pages quote and compare; ARGS=--write updates the pages
	@./ci.sh figures $(ARGS)

kills:  ## kill run, report and prove while they write: the old result or the new one stays, whole
	@./ci.sh kills

engines:  ## sweeps on clusters of Dask and of Ray on this machine give the tables of threads
	@./ci.sh engines

live:  ## on an idle machine, half an hour: the kernel's TCP beside packets, and a million of its packets replayed
	@./ci.sh live

parameter:  ## add a parameter to a law, an application and a link, each one line, and find it wherever users look
	@./ci.sh parameter

peers:  ## run the same scenarios in ns-2 and ns-3 and compare; ARGS="..." for any point (ARGS=--help)
	@./ci.sh peers $(ARGS)

kernel-check:  ## for releases: boot a Debian kernel in virtual time (no root) and compare its qdiscs with ours; ARGS=--keep writes the table
	@./ci.sh kernel_check $(ARGS)

flent-check:  ## install Flent into an environment of its own; it opens, summarises and plots the data files that we write
	@./ci.sh flent_check $(ARGS)

fuzz:  ## search for inputs that break a sender, a receiver or a reader of files, twenty minutes a target
	@./ci.sh fuzz

docs:  ## build the documentation; warnings are errors; the last line is the path of its first page
	@./ci.sh docs

dist:  ## build a wheel, install it into a clean environment and run it
	@./ci.sh dist

clean:  ## remove all build output: .venv, build, dist, target
	@./ci.sh clean
