package dev.doorbell.benchmarks;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.queue.generated.QueuePairView;

/** A queue pair of its own with an {@link InstantHca} behind it, and a kernel that posts there. */
final class Poster {
  private static final int BLOCKS = 32768;
  private static final int BYTES = 8;
  private static final long MINUTE = 60_000_000_000L;

  private final Gpu gpu;
  private final Kernel kernel;
  private final int threads;
  private final GpuStream stream;
  private final KernelArguments arguments = new KernelArguments();

  Poster(Fabric fabric, Gpu gpu, Kernel kernel, int qpn, int threads, long posts) {
    this.gpu = gpu;
    this.kernel = kernel;
    this.threads = threads;
    this.stream = gpu.createStream();
    Memory ring = device((long) BLOCKS * SendQueue.BLOCK, "send ring");
    Memory record = device(Long.BYTES, "doorbell record");
    Memory completion = device(Cqe.BYTES, "completion ring");
    completion.fill(0, Cqe.BYTES, (byte) 0xff);
    InstantHca hca = new InstantHca(fabric, completion.address(), qpn);
    Memory view = device(QueuePairView.BYTES, "view");
    view.putBytes(
        0,
        new QueuePairView(
                ring.address(),
                record.address() + Integer.BYTES,
                gpu.mapDeviceRegisters(hca.register(), Long.BYTES),
                completion.address(),
                record.address(),
                device(Abi.countersBytes(BLOCKS), "counters").address(),
                device(ErrorRecord.BYTES, "error record").address(),
                0,
                0,
                MINUTE,
                BLOCKS,
                1,
                qpn,
                QueuePairView.FLAG_CQ_COLLAPSED,
                0,
                64,
                0,
                0)
            .encode());
    JobView request = new JobView();
    request.local = device(BYTES, "source").address();
    request.remote = device(BYTES, "target").address();
    request.bytes = BYTES;
    request.iterations = posts / threads;
    request.qpCount = 1;
    request.status = device((long) Integer.BYTES * threads, "status").address();
    Memory job = device(JobView.BYTES, "job");
    job.putBytes(0, request.encode());
    arguments.add(view).add(job);
  }

  private Memory device(long bytes, String label) {
    return gpu.allocate(MemoryKind.DEVICE, bytes, label);
  }

  Launch start() {
    return gpu.launch(kernel, LaunchConfig.of(1, threads).withTimeout(MINUTE), arguments, stream);
  }
}
