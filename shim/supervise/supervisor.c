/* SPDX-License-Identifier: MIT */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cordon.h"
#include "hand_in.h"
#include "ruleset.h"
#include "run.h"
#include "syscall.h"
#include "watch.h"
#include "word.h"
#include "workers.h"

/* --- the command's side ----------------------------------------------------------------------- */

/* What the child tells: the number of the listener, in a table of descriptors that both share. */
struct birth {
    int listener; /* or a negative errno */
};

static bool tell(int pipe, const void *bytes, size_t size)
{
    ssize_t n;

    do
        n = write(pipe, bytes, size);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

static bool hear(int pipe, void *bytes, size_t size)
{
    ssize_t n;

    do
        n = read(pipe, bytes, size);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

/* Confines itself, and leaves the listener in the supervisor's hands. */
static int be_command(const struct supervised *what, const int pipe[2], pid_t supervisor,
                      struct trouble *trouble)
{
    struct birth birth;
    const char done = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)
        _exit(125);
    birth.listener = confine_inside(what->image, &what->confinement, trouble);
    if (!tell(pipe[1], &birth, sizeof birth) || birth.listener < 0)
        return -1;
    /* From here on each has his own. Those of the supervisor are no business of the command. */
    if (unshare(CLONE_FILES) < 0 || !tell(pipe[1], &done, sizeof done))
        return trouble_set(trouble, "the supervisor", strerror(errno), "", "");
    close(birth.listener);
    close(pipe[0]);
    close(pipe[1]);
    if (what->log > STDERR_FILENO)
        close(what->log);
    if (what->stops >= 0)
        close(what->stops);
    return 0;
}

/* --- the supervisor's ------------------------------------------------------------------------- */

void supervisor_end(int status)
{
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    end_like(status);
}

static pid_t wait_for(pid_t command, int *status)
{
    run_hold();
    pid_t pid = waitpid(command, status, WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD);
    run_release();
    return pid;
}

/* What became of the command: told to the guardian if it goes on, else how we end as well. */
static void hear_command(int signals, pid_t command, int stops)
{
    struct signalfd_siginfo info;
    int status;
    int stopped;

    while (read(signals, &info, sizeof info) > 0)
        ;
    while (wait_for(command, &status) > 0) {
        if (!WIFSTOPPED(status) && !WIFCONTINUED(status))
            supervisor_end(status);
        stopped = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
        if (stops >= 0)
            tell(stops, &stopped, sizeof stopped);
    }
}

static void watch_command(int signals, pid_t command, int stops)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = signals, .events = POLLIN},
                               {.fd = workers_wake_fd(), .events = POLLIN}};
        int ready = poll(fds, 2, workers_tick());
        if (ready > 0 && fds[0].revents != 0)
            hear_command(signals, command, stops);
    }
}

static uint64_t device_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) < 0 ? 0 : (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
}

/* All but the listener. */
static bool prepare(struct supervisor *self, const struct supervised *what)
{
    *self = (struct supervisor){
        .image = what->image,
        .policy = image_policy(what->image),
        .wants = what->confinement.wants,
        .log = what->log,
        .proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC),
        .image_fd = hand_in_image(what->image),
        .preload = hand_in_preload(what->image),
        /* In a network of our own there are no others. */
        .own_abstract = ruleset_abi() >= 6 ||
                        (what->confinement.wants.unix_sockets && what->image->net == NET_DENY),
    };
    self->proc_dev = device_of(self->proc);
    return self->proc >= 0 && self->image_fd >= 0 &&
           ids_read_of(self->proc, getpid(), &self->own) == 0;
}

/* What many callers have borrowed to us at a time is more than what one of them may have open. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static _Noreturn void live(struct supervisor *self, const struct supervised *what,
                           const int pipe[2], pid_t command)
{
    struct birth birth;
    char done;
    sigset_t all;
    int signals;

    prctl(PR_SET_NAME, "cordon-super");
    setpgid(0, 0);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (!hear(pipe[0], &birth, sizeof birth) || birth.listener < 0 ||
        !hear(pipe[0], &done, sizeof done)) {
        /* It says itself why it was not started. */
        int status = 125 << 8;
        waitpid(command, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 125);
    }
    self->listener = birth.listener;
    self->command = command;
    const int kept[] = {self->listener, self->proc,  self->log, self->image_fd,
                        self->preload,  what->stops, signals};
    keep_only(kept, sizeof kept / sizeof kept[0]);
    /* Nobody in there is to look into us, also where no Landlock keeps them from it. */
    prctl(PR_SET_DUMPABLE, 0);
    raise_limit();
    listener_hasten(self->listener);
    if (signals < 0 || !workers_start(self))
        _exit(125); /* and the command ends with us */
    watch_command(signals, command, what->stops);
    _exit(125);
}

int supervisor_begin(const struct supervised *what, struct trouble *trouble)
{
    static struct supervisor self;
    pid_t supervisor = getpid();
    int pipe[2];
    long pid;

    if (confine_wall(what->image, &what->confinement, trouble) < 0)
        return -1;
    if (!prepare(&self, what) || pipe2(pipe, O_CLOEXEC) < 0)
        return trouble_set(trouble, "the supervisor", strerror(errno), "", "");
    self.wants.many_ids = ids_can_change();
    /* Not fork: the listener comes up in the child, and has to get to us without a call that would
     * be held up until we listen. */
    pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0)
        return trouble_set(trouble, "the supervisor", strerror(errno), "", "");
    if (pid > 0)
        live(&self, what, pipe, (pid_t)pid);
    struct supervised inside = *what;
    inside.confinement.wants = self.wants;
    return be_command(&inside, pipe, supervisor, trouble);
}

/* --- trying it -------------------------------------------------------------------------------- */

static int attempt(const struct image *image, struct trouble *trouble)
{
    const struct confinement nothing = {
        .wants = {.unix_sockets = true, .internet = true, .supervise = SUPERVISE_ALL}};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return trouble_set(trouble, "no_new_privs", strerror(errno), "", "");
    return confine_inside(image, &nothing, trouble) < 0 ? -1 : 0;
}

int supervisor_probe(struct trouble *trouble)
{
    return try_apart(attempt, NULL, TRIAL_LIMIT, trouble);
}

static long ask_above(void)
{
    return os_syscall(SYS_prctl, WORD, WORD_SUPERVISED, 0, 0, 0, 0);
}

bool supervisor_is_above(void)
{
    return supervisor_hands_in() || ask_above() == -WORD_YES_BUT_NO_GATE;
}

bool supervisor_hands_in(void)
{
    return ask_above() == -WORD_YES;
}
