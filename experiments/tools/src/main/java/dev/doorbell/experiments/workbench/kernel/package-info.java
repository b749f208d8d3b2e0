/** Checks, runs and lists one kernel outside of experiments: the requests and the reports. */
@NullMarked
package dev.doorbell.experiments.workbench.kernel;

import org.jspecify.annotations.NullMarked;
