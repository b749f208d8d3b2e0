/**
 * A real NVIDIA GPU behind the contract of core: JCudaDriver, and the driver's own functions where
 * JCuda lacks one. Nothing native is loaded before {@link dev.doorbell.cuda.CudaProbe} has found a
 * driver and a device.
 */
@NullMarked
package dev.doorbell.cuda;

import org.jspecify.annotations.NullMarked;
