/** The workbench for kernels over the PTX virtual machine. */
@NullMarked
package dev.doorbell.experiments.workbench.kernel;

import org.jspecify.annotations.NullMarked;
