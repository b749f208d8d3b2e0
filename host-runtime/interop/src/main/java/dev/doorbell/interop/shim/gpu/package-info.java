/**
 * Emulated GPUs of programs that run under {@code doorbell exec}: memory, modules, streams and
 * events, served to the CUDA libraries of {@code host-runtime/cuda-shim}.
 */
@NullMarked
package dev.doorbell.interop.shim.gpu;

import org.jspecify.annotations.NullMarked;
