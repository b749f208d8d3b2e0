/** {@code doorbell paper}: write-ups, and the runs that they rest on. */
@NullMarked
package dev.doorbell.experiments.cli.paper;

import org.jspecify.annotations.NullMarked;
