package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.calibration.PriceRig.Workload;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Measures a GPU, or the virtual machine in virtual time: then the topology's own prices. */
public final class Calibrator {
  private static final String CUDA = "cuda:";
  private static final long SEED = 1;

  /** All blocks of a grid run at once, as on hardware. */
  private static final VmOptions OPTIONS =
      VmOptions.defaults().withMaxResidentBlocks(PriceRig.MOST_BLOCKS);

  private Calibrator() {}

  /**
   * The request of a measurement.
   *
   * @param gpu {@code vm} or {@code cuda:N}
   * @param topology name or path of the topology for virtual time; a real GPU takes only the CPU's
   *     own prices from it
   * @param samples of each quantity
   * @param largestGrid largest number of threads for bandwidth
   * @param interrupted polled between two measurements
   * @param progress receives the name of each measurement before it starts
   */
  public record Request(
      String gpu,
      String topology,
      int samples,
      int largestGrid,
      BooleanSupplier interrupted,
      Consumer<String> progress) {}

  /**
   * Measures.
   *
   * @throws EnvironmentException when there is no such GPU, or a kernel of it failed
   * @throws ConfigException when the topology cannot be read
   */
  public static Calibration measure(Request request) throws EnvironmentException, ConfigException {
    Topology topology = TopologyFile.load(request.topology());
    try {
      return request.gpu().startsWith(CUDA) ? real(request) : virtual(request, topology);
    } catch (GpuException e) {
      throw new EnvironmentException(
          Problem.of("DB-E003", "--gpu " + request.gpu(), String.valueOf(e.getMessage()))
              .effect("nothing was written")
              .fix("--gpu vm measures the virtual machine, which needs no GPU"));
    }
  }

  private static Calibration real(Request request) {
    int ordinal = Integer.parseInt(request.gpu().substring(CUDA.length()));
    try (DirectFabric fabric = new DirectFabric();
        CudaGpu gpu = new CudaGpu(fabric, Locus.gpu(0, 0), ordinal)) {
      return calibrate(request, fabric, gpu, Workload.ON_HARDWARE, Basis.MEASURED);
    }
  }

  private static Calibration virtual(Request request, Topology topology) {
    try (TimedFabric fabric = new TimedFabric(topology, SEED);
        VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0), OPTIONS)) {
      return calibrate(request, fabric, gpu, Workload.IN_VIRTUAL_TIME, Basis.MODELLED);
    }
  }

  private static Calibration calibrate(
      Request request, Fabric fabric, Gpu gpu, Workload workload, Basis basis) {
    try (PriceBench bench = new PriceBench(request, fabric, gpu, workload)) {
      boolean complete = bench.run();
      return new Calibration(gpu.attributes().name(), basis, complete, bench.measurements());
    }
  }
}
