/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

/* Who stands in the way of this attempt. */
static unsigned guards(const struct attempt *attempt)
{
    static const unsigned walls[MODES] = {
        [MODE_LANDLOCK] = LANDLOCK | RUN, [MODE_UNSUPERVISED] = LANDLOCK | RUN,
        [MODE_BWRAP] = BWRAP | RUN,       [MODE_LANDLOCK_OPEN] = LANDLOCK | RUN,
        [MODE_BWRAP_OPEN] = BWRAP | RUN,  [MODE_NATIVE_RUN] = RUN,
        [MODE_HAND_LANDLOCK] = LANDLOCK};

    if (attempt->mode == MODE_BARE)
        return 0;
    return walls[attempt->mode] | (attempt->is_static ? 0 : SHIM) |
           (attempt_is_supervised(attempt) ? SUPERVISOR : 0);
}

static bool is_held(const struct attempt *attempt)
{
    unsigned held = attempt->attack->held;

    if ((held & RUN) != 0)
        return (guards(attempt) & RUN) != 0;
    return (guards(attempt) & held) != 0;
}

/* That a gap is one is asserted for raw system calls: there nobody else could close it. */
bool judge_applies(const struct attempt *attempt)
{
    const struct attack *attack = attempt->attack;
    bool by_hand = attempt->mode == MODE_HAND_LANDLOCK || attempt->mode == MODE_HAND_NATIVE;
    bool native = attempt->mode == MODE_NATIVE_RUN || attempt->mode == MODE_HAND_NATIVE;

    if (attempt->is_static && (by_hand || native))
        return false;
    if (attempt->mode == MODE_LANDLOCK_OPEN || attempt->mode == MODE_BWRAP_OPEN)
        return attack == NULL || (attack->needs & EVEN_OPEN) != 0;
    if (attack == NULL || attempt->mode == MODE_BARE)
        return true;
    if (is_held(attempt))
        return true;
    return attempt->is_static && attack->gap != NULL;
}

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    while (list != NULL && *list != '\0') {
        size_t end = strcspn(list, " ");
        if (end == length && memcmp(list, word, length) == 0)
            return true;
        list += end + (list[end] == ' ');
    }
    return false;
}

static bool is_right_error(const struct attempt *attempt, const char *error)
{
    const char *errors = attempt->attack->errors;

    if (has_word(errors == NULL ? "EACCES" : errors, error))
        return true;
    /* What is not there cannot be refused. */
    return (attempt->mode == MODE_BWRAP || attempt->mode == MODE_BWRAP_OPEN) &&
           has_word("ENOENT EROFS ESRCH EBUSY EXDEV", error);
}

static bool has_aim(const struct attempt *attempt, const struct outcome *outcome)
{
    switch (attempt->attack->aim) {
    case LEAK:
        return outcome->leaked;
    case CHANGE:
        return outcome->change[0] != '\0';
    case REACH:
        return outcome->reached != NULL;
    case CLAIM:
    default:
        return outcome->won;
    }
}

/* The end of what was printed. */
static const char *tail(const struct outcome *outcome)
{
    size_t length = strlen(outcome->output);

    return outcome->output + (length > 200 ? length - 200 : 0);
}

static enum result judge_success(const struct attempt *attempt, const struct outcome *outcome,
                                 char why[static WHY_ROOM])
{
    if (has_aim(attempt, outcome))
        return RESULT_PASS;
    if (strncmp(outcome->word, "CANNOT ", 7) == 0) {
        snprintf(why, WHY_ROOM, "%s", outcome->word + 7);
        return RESULT_SKIP;
    }
    snprintf(why, WHY_ROOM, "does not succeed%s: %s",
             attempt->mode == MODE_BARE ? " without cordon" : ", though it is said to be a gap",
             outcome->word[0] == '\0' ? tail(outcome) : outcome->word);
    return RESULT_FAIL;
}

static enum result judge_refusal(const struct attempt *attempt, const struct outcome *outcome,
                                 char why[static WHY_ROOM])
{
    const struct attack *attack = attempt->attack;
    const char *error = strncmp(outcome->word, "LOST ", 5) == 0 ? outcome->word + 5 : "";

    why[0] = '\0';
    if (outcome->hung)
        snprintf(why, WHY_ROOM, "hangs");
    else if (outcome->leaked)
        snprintf(why, WHY_ROOM, "the secret came out");
    else if (outcome->change[0] != '\0')
        snprintf(why, WHY_ROOM, "%.480s", outcome->change);
    else if (outcome->reached != NULL)
        snprintf(why, WHY_ROOM, "%s", outcome->reached);
    else if (outcome->won && !has_word(attack->errors, "WON"))
        snprintf(why, WHY_ROOM, "succeeds");
    else if (outcome->word[0] == '\0')
        snprintf(why, WHY_ROOM, "was not tried (status %x): %s", (unsigned)outcome->status,
                 tail(outcome));
    else if (!outcome->won && !is_right_error(attempt, error))
        snprintf(why, WHY_ROOM, "%s instead of %s", outcome->word,
                 attack->errors == NULL ? "EACCES" : attack->errors);
    else if (!outcome->recorded)
        snprintf(why, WHY_ROOM, "no record \"%.80s\" in: %.300s", attack->record, outcome->log);
    return why[0] == '\0' ? RESULT_PASS : RESULT_FAIL;
}

static enum result judge_inside(const struct outcome *outcome, char why[static WHY_ROOM])
{
    if (outcome->won && outcome->change[0] == '\0')
        return RESULT_PASS;
    snprintf(why, WHY_ROOM, "%.240s %.240s",
             outcome->word[0] == '\0' ? tail(outcome) : outcome->word, outcome->change);
    return RESULT_FAIL;
}

enum result judge(const struct attempt *attempt, const struct outcome *outcome,
                  char why[static WHY_ROOM])
{
    if (attempt->attack == NULL)
        return judge_inside(outcome, why);
    if (attempt->mode == MODE_BARE || !is_held(attempt))
        return judge_success(attempt, outcome, why);
    return judge_refusal(attempt, outcome, why);
}
