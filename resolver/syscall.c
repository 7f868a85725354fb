/* SPDX-License-Identifier: MIT */
#include "syscall.h"

/*
 * In assembler, since the arguments go on to the door as the kernel wants them and nothing comes
 * back here: the door returns to the caller. So its one instruction is the only one that enters the
 * kernel, and whoever sets another door has moved all calls there.
 */
#if defined(__x86_64__)

__asm__(".text\n"
        ".globl os_syscall\n"
        ".hidden os_syscall\n"
        ".type os_syscall, @function\n"
        "os_syscall:\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n"
        "    mov %r9, %r8\n"
        "    mov 8(%rsp), %r9\n"
        "    jmp *os_door(%rip)\n"
        ".size os_syscall, . - os_syscall\n"
        ".globl os_own_door\n"
        ".hidden os_own_door\n"
        ".type os_own_door, @function\n"
        "os_own_door:\n"
        "    syscall\n"
        "    ret\n"
        ".size os_own_door, . - os_own_door\n");

#elif defined(__aarch64__)

__asm__(".text\n"
        ".globl os_syscall\n"
        ".hidden os_syscall\n"
        ".type os_syscall, %function\n"
        "os_syscall:\n"
        "    mov x8, x0\n"
        "    mov x0, x1\n"
        "    mov x1, x2\n"
        "    mov x2, x3\n"
        "    mov x3, x4\n"
        "    mov x4, x5\n"
        "    mov x5, x6\n"
        "    adrp x16, os_door\n"
        "    ldr x16, [x16, :lo12:os_door]\n"
        "    br x16\n"
        ".size os_syscall, . - os_syscall\n"
        ".globl os_own_door\n"
        ".hidden os_own_door\n"
        ".type os_own_door, %function\n"
        "os_own_door:\n"
        "    svc 0\n"
        "    ret\n"
        ".size os_own_door, . - os_own_door\n");

#else
#error "cordon has no system call stub for this architecture"
#endif

const void *os_door = os_own_door;
