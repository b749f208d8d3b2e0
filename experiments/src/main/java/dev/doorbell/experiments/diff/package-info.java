/**
 * The same kernel on two GPUs: what a comparison is asked, and what it says. Who runs it is found
 * as a service, so that the command line knows no GPU.
 */
@NullMarked
package dev.doorbell.experiments.diff;

import org.jspecify.annotations.NullMarked;
