package dev.doorbell.kernels;

import java.util.List;

/**
 * One protocol: a CUDA source file of kernels/src, compiled.
 *
 * @param name of the file, and of its module
 * @param description one line for people
 * @param isa the PTX ISA version that it needs, as {@code 8.2}; CUDA 12.2's drivers are the oldest
 *     that take 8.2
 * @param target the oldest GPU that runs it, as {@code sm_75}
 * @param source path of the CUDA source, relative to the folder kernels
 * @param entries its kernels
 */
public record ProtocolKernel(
    String name,
    String description,
    String isa,
    String target,
    String source,
    List<EntryPoint> entries) {

  public ProtocolKernel {
    entries = List.copyOf(entries);
  }

  /**
   * A kernel to launch. Each takes {@code (const doorbell_qp *qps, const doorbell_job *job)}.
   *
   * @param name of the entry
   * @param registers of a thread, when compiled for {@link ProtocolKernel#target}
   * @param sharedBytes static shared memory of a block
   */
  public record EntryPoint(String name, int registers, int sharedBytes) {}
}
