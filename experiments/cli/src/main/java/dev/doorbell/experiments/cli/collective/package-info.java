/** {@code doorbell coll}: collectives with the flags and the table of nccl-tests. */
@NullMarked
package dev.doorbell.experiments.cli.collective;

import org.jspecify.annotations.NullMarked;
