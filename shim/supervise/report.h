/* SPDX-License-Identifier: MIT */
/* report.h - what the supervisor writes into the log. */
#ifndef CORDON_REPORT_H
#define CORDON_REPORT_H

#include "call.h"
#include "job.h"

/* A call that was judged, and refused. */
void report_call(struct job *job, const struct call *call);

/* A refusal for another reason: `what` was to be reached, and what would help. */
void report_other(struct job *job, const char *op, const char *intent, const char *what, int error,
                  const char *hint);

/* A refusal that the shim tells of: a struct word_record at that address. 0 or a negative errno. */
int report_note(struct job *job, uint64_t address);

#endif
