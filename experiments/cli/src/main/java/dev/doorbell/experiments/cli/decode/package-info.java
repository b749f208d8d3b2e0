/** {@code doorbell decode}: bytes of queues and packets, explained bit by bit. */
@NullMarked
package dev.doorbell.experiments.cli.decode;

import org.jspecify.annotations.NullMarked;
