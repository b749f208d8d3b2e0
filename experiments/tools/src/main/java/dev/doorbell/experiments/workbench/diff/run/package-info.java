/** Runs one kernel on two GPUs, each beside the same software HCA, and compares the memory. */
@NullMarked
package dev.doorbell.experiments.workbench.diff.run;

import org.jspecify.annotations.NullMarked;
