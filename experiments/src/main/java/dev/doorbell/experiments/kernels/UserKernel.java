package dev.doorbell.experiments.kernels;

import dev.doorbell.experiments.config.kernel.KernelDescriptor;

/**
 * A kernel that a user brought.
 *
 * @param file its descriptor's path, as problems show it
 * @param ptxFile its PTX's path, as problems show it
 * @param ptx the PTX
 */
public record UserKernel(KernelDescriptor descriptor, String file, String ptxFile, String ptx) {
  /** As experiments call it. */
  public String name() {
    return descriptor.name();
  }
}
