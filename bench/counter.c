/* Starts and stops the counting of callgrind around what is measured. Without valgrind it does nothing. */
#include <valgrind/callgrind.h>

void counter_start(void) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

void counter_stop(void) {
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
}
