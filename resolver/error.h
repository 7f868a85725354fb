/* SPDX-License-Identifier: MIT */
#ifndef CORDON_ERROR_H
#define CORDON_ERROR_H

/* The named error of the API for a negative errno, or that errno. */
int error_named(int negative_errno);

#endif
