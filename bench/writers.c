// Many threads at once: writers write|create DIRECTORY THREADS TOTAL PASSES
//
// TOTAL operations, shared out among THREADS threads, each in a file or directory of its own that is there
// before (w0, w1, ...; d0, d1, ...); writes PASSES times over the same blocks. Prints the seconds of one operation,
// counted from the moment when all threads stand ready.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { kBlock = 4096 };

static pthread_barrier_t ready;
static int each;
static int passes;
static int create;

static void fail(const char* what) {
    perror(what);
    exit(1);
}

static void* work(void* number) {
    const int self = (int)(long)number;
    static char block[kBlock];
    char name[64];
    snprintf(name, sizeof name, "w%d", self);
    const int file = create ? -1 : open(name, O_WRONLY);
    if (!create && file < 0) fail(name);
    pthread_barrier_wait(&ready);
    for (int done = 0; done < each * passes; ++done) {
        const int i = done % each;
        if (create) {
            snprintf(name, sizeof name, "d%d/f%d", self, i);
            const int made = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
            if (made < 0 || write(made, block, 100) != 100 || close(made) != 0) fail(name);
        } else if (pwrite(file, block, kBlock, (off_t)i * kBlock) != kBlock) {
            fail("pwrite");
        }
    }
    if (file >= 0) close(file);
    return NULL;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char** words) {
    if (count != 6) return 2;
    create = strcmp(words[1], "create") == 0;
    passes = create ? 1 : atoi(words[5]);
    const int threads = atoi(words[3]);
    if (chdir(words[2]) != 0) fail(words[2]);
    if (threads < 1 || threads > 4096) return 2;
    each = atoi(words[4]) / threads;
    if (each < 1 || passes < 1) return 2;
    pthread_t* all = calloc((size_t)threads, sizeof *all);
    if (all == NULL || pthread_barrier_init(&ready, NULL, (unsigned)threads + 1) != 0) fail("threads");
    for (int i = 0; i < threads; ++i) {
        if (pthread_create(&all[i], NULL, work, (void*)(long)i) != 0) fail("pthread_create");
    }
    const double begin = now();
    pthread_barrier_wait(&ready);
    for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    printf("%.9f\n", (now() - begin) / ((double)each * threads * passes));
    return 0;
}
