/** Checks, runs and lists kernels on the virtual machine, without an HCA. */
@NullMarked
package dev.doorbell.experiments.workbench.kernel.run;

import org.jspecify.annotations.NullMarked;
