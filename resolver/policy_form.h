/* SPDX-License-Identifier: MIT */
/* policy_form.h - what the builder and the checker of the flat form share. */
#ifndef CORDON_POLICY_FORM_H
#define CORDON_POLICY_FORM_H

#include "policy.h"

#define POLICY_MAGIC   0x434f5244U /* "CORD" */
#define POLICY_VERSION 3U

/* How many bytes the counts in a header make; cannot overflow. */
uint64_t policy_size_of(const struct policy *counts);

#endif
