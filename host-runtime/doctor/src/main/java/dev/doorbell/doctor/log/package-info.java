/** Explains lines of NCCL's and NVSHMEM's logs: cause, consequence and remedy of each. */
@NullMarked
package dev.doorbell.doctor.log;

import org.jspecify.annotations.NullMarked;
