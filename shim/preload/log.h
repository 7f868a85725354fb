/* SPDX-License-Identifier: MIT */
/* log.h - where a refusal in this process is recorded. */
#ifndef CORDON_LOG_H
#define CORDON_LOG_H

#include "call.h"

/* Records a call whose report says that it was refused, if there is a log. */
void log_refusal(const struct call *call);

#endif
