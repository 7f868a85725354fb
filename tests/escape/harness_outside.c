/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

enum { PAGE = 4096, PAGE_TARGET = 128, PAGE_ADDRESS = 256, VICTIM_PAGE_FD = 4, VICTIM_FILE_FD = 5 };

/* Which listener is which; those in the tree are made anew for each attempt. */
enum { TCP, TCP6, UDP, ABSTRACT, ABSTRACT_DGRAM, OUT_SOCK, OUT_DGRAM, OTHER_SOCK };

/* --- listeners -------------------------------------------------------------------------------- */

static int listener(int family, int type, const void *address, socklen_t size)
{
    int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, address, size) < 0 || (type == SOCK_STREAM && listen(fd, 8) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int port_of(int fd)
{
    struct sockaddr_in6 address = {0}; /* the port lies at the same place in both kinds */
    socklen_t size = sizeof address;

    if (fd < 0 || getsockname(fd, (struct sockaddr *)&address, &size) < 0)
        return 0;
    return ntohs(address.sin6_port);
}

static int path_listener(const char *path, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return listener(AF_UNIX, type, &address, sizeof address);
}

static int abstract_listener(const char *name, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name);
    return listener(AF_UNIX, type, &address,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)));
}

/* Whether a message or a connection has come; takes it. */
static bool heard(int fd)
{
    char text[64];
    int peer;

    if (fd < 0)
        return false;
    if (recv(fd, text, sizeof text, 0) >= 0)
        return true;
    peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    if (peer >= 0)
        close(peer);
    return peer >= 0;
}

/* --- terminals -------------------------------------------------------------------------------- */

static void new_terminal(int *master, int *slave, char name[static 64])
{
    struct termios settings;

    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master < 0 || grantpt(*master) < 0 || unlockpt(*master) < 0 ||
        ptsname_r(*master, name, 64) != 0)
        die("pseudo terminal");
    *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (*slave < 0 || tcgetattr(*slave, &settings) < 0)
        die(name);
    cfmakeraw(&settings);
    tcsetattr(*slave, TCSANOW, &settings);
}

/* --- the victim ------------------------------------------------------------------------------- */

/* Runs as a program of its own, so that its environment is its own: page and file are inherited. */
int victim_main(void)
{
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, VICTIM_PAGE_FD, 0);

    if (page == MAP_FAILED)
        return 1;
    snprintf(page + PAGE_ADDRESS, 64, "%p", (void *)page);
    for (;;)
        pause();
}

static void become_victim(const struct outside *outside, const struct stage *stage)
{
    char variable[128];
    char name[] = "escape";
    char role[] = "--victim";
    char *argv[] = {name, role, NULL};
    char *envp[] = {variable, NULL};

    snprintf(variable, sizeof variable, "SECRET=%s", stage->secret);
    if (setpgid(0, 0) < 0 || chdir(stage_path(stage, "out")) < 0)
        die("victim");
    /* High first: what is to be moved may have one of the numbers. */
    int page = fcntl(outside->page_fd, F_DUPFD, 20);
    int self = fcntl(outside->self, F_DUPFD_CLOEXEC, 20);
    int file = open("secret", O_RDONLY);

    if (dup2(file, VICTIM_FILE_FD) < 0 || dup2(page, VICTIM_PAGE_FD) < 0)
        die("victim");
    close_range(VICTIM_FILE_FD + 1, (unsigned)self - 1, 0);
    fexecve(self, argv, envp);
    die("victim");
}

static void start_victim(struct outside *outside, const struct stage *stage)
{
    const struct timespec pause = {.tv_nsec = 200000};

    memset(outside->page, 0, PAGE);
    snprintf(outside->page, 64, "%s", stage->secret);
    outside->victim = fork();
    if (outside->victim < 0)
        die("fork");
    if (outside->victim == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        become_victim(outside, stage);
    }
    for (int i = 0; outside->page[PAGE_ADDRESS] == '\0'; i++) {
        if (i == 25000)
            die("the victim does not start");
        nanosleep(&pause, NULL);
    }
}

static const char *victim_state(const struct outside *outside)
{
    struct rlimit limit;
    int status;

    if (waitpid(outside->victim, &status, WNOHANG | WUNTRACED) != 0)
        return "the victim was hit by a signal";
    if (outside->page[PAGE_TARGET] != '\0')
        return "the victim's memory was written";
    if (prlimit(outside->victim, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_max == 0)
        return "the victim was given limits";
    if (getpriority(PRIO_PROCESS, (id_t)outside->victim) == 19)
        return "the victim was given a priority";
    return NULL;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void new_objects(struct outside *outside, const struct stage *stage)
{
    char *address;
    mqd_t queue;
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 64};

    outside->memory = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
    address = outside->memory < 0 ? (char *)-1 : shmat(outside->memory, NULL, 0);
    if (address != (char *)-1) {
        snprintf(address, PAGE, "%s", stage->secret);
        shmctl(outside->memory, IPC_RMID, NULL); /* it goes with us, whatever our end */
    }
    snprintf(outside->queue, sizeof outside->queue, "escape-%s", stage->secret);
    queue = (mqd_t)syscall(SYS_mq_open, outside->queue, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600,
                           &attributes);
    if (queue >= 0)
        close(queue);
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
    outside->key = syscall(SYS_add_key, "user", "escape", stage->secret, SECRET_LENGTH,
                           KEY_SPEC_SESSION_KEYRING);
}

void outside_new(struct outside *outside, const struct stage *stage)
{
    const struct sockaddr_in any = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    char name[64];

    memset(outside, 0, sizeof *outside);
    memset(outside->listeners, -1, sizeof outside->listeners);
    snprintf(outside->abstract, sizeof outside->abstract, "escape-%s", stage->secret);
    snprintf(outside->abstract_dgram, sizeof outside->abstract_dgram, "escape-d-%.40s",
             stage->secret);
    outside->listeners[TCP] = listener(AF_INET, SOCK_STREAM, &any, sizeof any);
    outside->listeners[TCP6] = listener(AF_INET6, SOCK_STREAM, &any6, sizeof any6);
    outside->listeners[UDP] = listener(AF_INET, SOCK_DGRAM, &any, sizeof any);
    outside->listeners[ABSTRACT] = abstract_listener(outside->abstract, SOCK_STREAM);
    outside->listeners[ABSTRACT_DGRAM] = abstract_listener(outside->abstract_dgram, SOCK_DGRAM);
    outside->tcp = port_of(outside->listeners[TCP]);
    outside->tcp6 = port_of(outside->listeners[TCP6]);
    outside->udp = port_of(outside->listeners[UDP]);
    new_terminal(&outside->terminal_master, &outside->terminal, name);
    new_terminal(&outside->other_master, &outside->other, outside->other_name);
    new_objects(outside, stage);
    outside->page_fd = memfd_create("page", MFD_CLOEXEC);
    if (outside->page_fd < 0 || ftruncate(outside->page_fd, PAGE) < 0)
        die("memfd");
    outside->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, outside->page_fd, 0);
    outside->self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (outside->page == MAP_FAILED || outside->self < 0)
        die("self");
}

void outside_free(struct outside *outside)
{
    syscall(SYS_mq_unlink, outside->queue);
}

void outside_start(struct outside *outside, const struct stage *stage)
{
    mqd_t queue =
        (mqd_t)syscall(SYS_mq_open, outside->queue, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0, NULL);

    if (queue >= 0) {
        syscall(SYS_mq_timedsend, queue, stage->secret, SECRET_LENGTH, 0, NULL);
        close(queue);
    }
    outside->listeners[OUT_SOCK] = path_listener(stage_path(stage, "out/sock"), SOCK_STREAM);
    outside->listeners[OUT_DGRAM] = path_listener(stage_path(stage, "out/dgram"), SOCK_DGRAM);
    outside->listeners[OTHER_SOCK] = path_listener(stage_path(stage, "other/sock"), SOCK_STREAM);
    for (int i = OUT_SOCK; i <= OTHER_SOCK; i++)
        if (outside->listeners[i] < 0)
            die("unix socket");
    tcflush(outside->terminal, TCIOFLUSH);
    tcflush(outside->other, TCIOFLUSH);
    if (write(outside->other_master, stage->secret, SECRET_LENGTH) != SECRET_LENGTH)
        die("terminal");
    start_victim(outside, stage);
}

static const char *noticed(const struct outside *outside)
{
    static const char *const names[LISTENERS] = {
        "a TCP connection",       "a TCP connection by IPv6",  "a UDP packet",
        "an abstract connection", "an abstract message",       "a connection to out/sock",
        "a message to out/dgram", "a connection to other/sock"};
    const char *found = victim_state(outside);
    int typed = 0;

    for (int i = 0; i < LISTENERS; i++)
        if (heard(outside->listeners[i]))
            found = names[i];
    if (ioctl(outside->terminal, FIONREAD, &typed) == 0 && typed > 0)
        found = "a key was typed";
    return found;
}

const char *outside_reached(const struct outside *outside, long patience)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const char *found = noticed(outside);

    for (; found == NULL && patience > 0; patience--) {
        nanosleep(&pause, NULL);
        found = noticed(outside);
    }
    return found;
}

void outside_stop(struct outside *outside)
{
    for (int i = OUT_SOCK; i <= OTHER_SOCK; i++) {
        close(outside->listeners[i]);
        outside->listeners[i] = -1;
    }
    kill(outside->victim, SIGKILL);
    kill(outside->victim, SIGCONT);
    while (waitpid(outside->victim, NULL, 0) < 0 && errno == EINTR)
        continue;
}
