package dev.doorbell.experiments.kernels;

import dev.doorbell.experiments.config.kernel.KernelDescriptor;

/**
 * A user's kernel.
 *
 * @param file its descriptor's path, as problems show it
 * @param ptxFile its PTX's path, as problems show it
 * @param ptx the PTX
 */
public record UserKernel(KernelDescriptor descriptor, String file, String ptxFile, String ptx) {
  /** Returns the name by which experiments refer to it. */
  public String name() {
    return descriptor.name();
  }
}
