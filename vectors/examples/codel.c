/* CoDel, RFC 8289 section 5, as a program that `sojourn conform` holds to the golden traces.
 *
 *     cc -O2 -o codel codel.c -lm
 *     sojourn conform --law codel --against ./codel
 *
 * It reads a trace on stdin, an object a line, and writes a verdict for each arrival and each departure. The lines
 * are the trace's own, without blanks between their members, so strstr finds a member; a parser of JSON does as well.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The law: shown one packet after the other as it leaves; times in ns -------------------------------------- */

enum after { NOTHING, ENTRY, DROP };

struct codel {
    int64_t target, interval;
    bool ecn, fixed;
    int64_t maxpacket;
    bool above;           /* whether first_above is set */
    int64_t first_above;  /* when the delay will have been above the target for an interval */
    bool dropping;
    int64_t drop_next;
    int64_t count, lastcount;
    enum after after;     /* what the packet before this one, in the same dequeue, was dropped for */
};

static int64_t control_law(const struct codel *c, int64_t t)
{
    return t + (int64_t)((double)c->interval / sqrt((double)c->count));
}

static void enter(struct codel *c, int64_t now)
{
    int64_t delta = c->count - c->lastcount;
    bool recent = now - c->drop_next < 16 * c->interval;
    c->dropping = true;
    c->count = delta > 1 && recent ? delta : 1;
    c->lastcount = c->count;
    c->drop_next = control_law(c, now);
}

/* Section 5.6, dodequeue: above the target for a whole interval, with more than a packet behind. */
static bool is_late(struct codel *c, int64_t now, int64_t sojourn, int64_t backlog)
{
    if (sojourn < c->target || backlog <= c->maxpacket) {
        c->above = false;
        return false;
    }
    if (!c->above) {
        c->above = true;
        c->first_above = now + c->interval;
    }
    return now >= c->first_above;
}

/* Section 5.5, dequeue, from one packet to the next. */
static bool is_due(struct codel *c, int64_t now, bool late)
{
    if (c->after == ENTRY) {
        enter(c, now);
        return false;
    }
    if (c->after == DROP && late)
        c->drop_next = control_law(c, c->drop_next);
    if (c->dropping) {
        c->dropping = late;
        return late && now >= c->drop_next;
    }
    return late;
}

static const char *departure(struct codel *c, int64_t now, int64_t len, bool ecn, int64_t sojourn, int64_t backlog)
{
    bool late, entry;

    if (!c->fixed && len > c->maxpacket)
        c->maxpacket = len;
    late = is_late(c, now, sojourn, backlog);
    if (!is_due(c, now, late)) {
        c->after = NOTHING;
        return "pass";
    }
    entry = !c->dropping;
    if (c->dropping)
        c->count++;
    if (!ecn || !c->ecn) {
        c->after = entry ? ENTRY : DROP; /* the packet behind it decides when the next one is due */
        return "drop";
    }
    if (entry)
        enter(c, now);
    else
        c->drop_next = control_law(c, c->drop_next);
    c->after = NOTHING;
    return "mark";
}

static void idle(struct codel *c, int64_t now)
{
    c->above = false;
    is_due(c, now, false);
    c->after = NOTHING;
}

/* ---- The trace ------------------------------------------------------------------------------------------------ */

/* The text after "KEY": in a line, NULL where it has no such member. */
static const char *member(const char *line, const char *key)
{
    char quoted[64];
    const char *found;

    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    found = strstr(line, quoted);
    return found ? found + strlen(quoted) : NULL;
}

static int64_t number(const char *line, const char *key)
{
    const char *text = member(line, key);
    if (!text) {
        fprintf(stderr, "codel: a line has no \"%s\": %s", key, line);
        exit(2);
    }
    return strtoll(text, NULL, 10);
}

static bool is(const char *line, const char *key, const char *value)
{
    const char *text = member(line, key);
    return text && text[0] == '"' && strncmp(text + 1, value, strlen(value)) == 0 && text[1 + strlen(value)] == '"';
}

/* A parameter such as "20 ms" or "1500 B", in ns or bytes. */
static int64_t quantity(const char *line, const char *key, int64_t otherwise)
{
    const char *text = member(line, key);
    char *unit;
    double value;

    if (!text)
        return otherwise;
    value = strtod(text + 1, &unit);
    while (*unit == ' ')
        unit++;
    return llround(value * (*unit == 'm' ? 1e6 : *unit == 'u' ? 1e3 : *unit == 's' ? 1e9 : 1.0));
}

int main(void)
{
    static char line[65536];
    struct codel c = { .after = NOTHING };
    const char *ecn;

    if (!fgets(line, sizeof line, stdin) || !is(line, "law", "codel")) {
        fprintf(stderr, "codel: this is CoDel, and the trace is of another law\n");
        return 2;
    }
    ecn = member(line, "ecn");
    c.ecn = !ecn || strncmp(ecn, "false", 5) != 0;
    c.target = quantity(line, "target", 5000000);
    c.interval = quantity(line, "interval", 100000000);
    c.fixed = member(line, "mtu") != NULL;
    c.maxpacket = quantity(line, "mtu", 512);

    while (fgets(line, sizeof line, stdin)) {
        if (is(line, "call", "arrival"))
            puts("pass");
        else if (is(line, "call", "departure"))
            puts(departure(&c, number(line, "now_ns"), number(line, "len"), !is(line, "ecn", "not_ect"),
                           number(line, "sojourn_ns"), number(line, "backlog_bytes")));
        else if (is(line, "call", "idle"))
            idle(&c, number(line, "now_ns"));
    }
    return 0;
}
