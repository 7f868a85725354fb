/* SPDX-License-Identifier: MIT */
/*
 * word.h - what a confined process and those who hold it say to each other.
 *
 * A process asks by prctl(WORD, enum word, ...), an option that no kernel has. The filter answers
 * some of it with an errno that no kernel gives: so a process knows by the kernel's word, not by
 * that of a variable, where it stands. The rest reaches the supervisor.
 */
#ifndef CORDON_WORD_H
#define CORDON_WORD_H

#include <stdint.h>

enum { WORD = 0x636f7264, WORD_YES = 3085, WORD_YES_BUT_NO_GATE = 3086 };

enum word {
    WORD_INSIDE,     /* am I in a cordon? -WORD_YES */
    WORD_SUPERVISED, /* does a supervisor look on? -WORD_YES, or -WORD_YES_BUT_NO_GATE */
    WORD_IMAGE,      /* a descriptor of the image, sealed */
    WORD_RECORD,     /* here is a refusal: a struct word_record */
};

/* Addresses are the caller's, of texts that end with NUL; 0: none. Who the caller is the supervisor
 * knows better than he does. */
struct word_record {
    uint64_t op;
    uint64_t hint;
    uint64_t path;
    uint64_t resolved;
    uint32_t intent;
    uint32_t rule;
    uint32_t layer; /* of the policy */
    uint32_t observed;
};

/*
 * The gate: system calls that are made from this very address come from the shim, which has judged
 * them already, and pass. Every process has it at the same place, since filters are inherited. A
 * hostile program can go there as well: so nothing passes that the wall has to hold.
 */
#if defined(__x86_64__)
#define GATE_ADDRESS 0x5f0000000000UL
#define GATE_CODE        \
    {                    \
        0x0f, 0x05, 0xc3 \
    }                                  /* syscall; ret */
#define GATE_RETURN (GATE_ADDRESS + 2) /* what the filter sees */
#elif defined(__aarch64__)
#define GATE_ADDRESS 0x5f0000000000UL
#define GATE_CODE                                      \
    {                                                  \
        0x01, 0x00, 0x00, 0xd4, 0xc0, 0x03, 0x5f, 0xd6 \
    } /* svc 0; ret */
#define GATE_RETURN (GATE_ADDRESS + 4)
#endif

#endif
