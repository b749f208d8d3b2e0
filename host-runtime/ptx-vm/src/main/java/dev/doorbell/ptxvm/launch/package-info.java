/**
 * The GPU contract kept by the virtual machine: modules, kernels, streams, launches in waves of
 * resident blocks.
 */
@NullMarked
package dev.doorbell.ptxvm.launch;

import org.jspecify.annotations.NullMarked;
