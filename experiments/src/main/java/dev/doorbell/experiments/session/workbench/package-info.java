/** The workbench for kernels over the PTX virtual machine. */
@NullMarked
package dev.doorbell.experiments.session.workbench;

import org.jspecify.annotations.NullMarked;
