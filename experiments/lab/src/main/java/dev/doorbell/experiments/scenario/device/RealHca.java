package dev.doorbell.experiments.scenario.device;

import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.cuda.CudaGpu.PinnedPages;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.verbs.Mlx5Hca;
import dev.doorbell.verbs.ServedPages;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.library.VerbsProbe;
import org.jspecify.annotations.Nullable;

/**
 * An mlx5 HCA of this machine that a config names: {@code mlx5} or a filter such as {@code
 * mlx5_0:1}.
 *
 * @param filter which devices and ports, in NCCL's syntax
 */
public record RealHca(String filter) {
  /** Set where {@code doorbell exec --gpus 0} shows programs its own devices. */
  public static final String SERVED = "DOORBELL_HCA";

  private static final long SPACE_BYTES = 1L << 28;

  /**
   * Findings of an HCA that was opened.
   *
   * @param description port, MTU, GID and why, for the first line of a run
   */
  public record Found(String description, HcaAttributes attributes) {}

  /** The HCA that a config's word names, or null where the word names none of this machine's. */
  public static @Nullable RealHca of(String word) {
    if (word.equals("auto") || word.equals("soft") || word.equals("soft-hca")) {
      return null;
    }
    return new RealHca(word);
  }

  /**
   * Opens it once, to find whether it works and what it can do.
   *
   * @throws EnvironmentException saying what is missing and how to get it
   */
  public Found find() throws EnvironmentException {
    parseFilter();
    Probe probe = VerbsProbe.probeMlx5();
    if (!(probe instanceof Probe.Ready)) {
      throw new EnvironmentException(
          Problem.of("DB-E004", "hca", "'%s': %s".formatted(filter, probe.describe()))
              .effect("nothing was run")
              .fix(
                  "use hca: soft, or run under 'doorbell exec --gpus 0 --', which brings an mlx5 device"
                      + " of its own"));
    }
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(SPACE_BYTES), 0);
        VmGpu host = new VmGpu(fabric, Locus.gpu(0, 0));
        Mlx5Hca hca = open(fabric, Locus.nic(0, 0), host)) {
      return new Found(describe(hca), hca.attributes());
    } catch (HcaException e) {
      throw new EnvironmentException(
          Problem.of("DB-E005", "hca", "'%s': %s".formatted(filter, e.getMessage()))
              .effect("nothing was run")
              .fix("fix that, choose another device with --hca, or use hca: soft"));
    }
  }

  private void parseFilter() throws EnvironmentException {
    try {
      DeviceFilter.parse(filter);
    } catch (IllegalArgumentException e) {
      throw new EnvironmentException(
          Problem.of("DB-E006", "hca", String.valueOf(e.getMessage()))
              .effect("nothing was run")
              .fix("such as mlx5_0:1, =mlx5_1 or ^mlx5_3"));
    }
  }

  private static String describe(Mlx5Hca hca) {
    return hca.describe() + (isServed() ? "; a software HCA that 'doorbell exec' serves" : "");
  }

  /** Returns true if the devices of this process are software HCAs that another process serves. */
  public static boolean isServed() {
    return System.getenv(SERVED) != null;
  }

  /**
   * Steps that host memory needs before a GPU pins it: where the devices are served, their queues'
   * pages are shared with who serves them, and have to be so before.
   */
  public static PinnedPages pinnedPages() {
    ServedPages served = ServedPages.find();
    if (served == null) {
      return PinnedPages.NONE;
    }
    return new PinnedPages() {
      @Override
      public void willPin(long address, long bytes) {
        served.share(address, bytes);
      }

      @Override
      public void unpinned(long address, long bytes) {
        served.unshare(address, bytes);
      }
    };
  }

  /**
   * Opens the device of a rank. A filter that lists several devices gives each rank the next one;
   * otherwise all ranks have the same, which talks to itself.
   *
   * @param memory host memory of that rank
   * @throws HcaException when it is not there, or a step of opening it fails
   */
  public Mlx5Hca open(Fabric fabric, Locus nic, MemoryProvider memory) {
    return new Mlx5Hca(fabric, nic, DeviceFilter.parse(filterOf(nic.rank())), -1, memory);
  }

  private String filterOf(int rank) {
    if (filter.startsWith("^")) {
      return filter;
    }
    boolean exact = filter.startsWith("=");
    String[] entries = filter.substring(exact ? 1 : 0).split(",", -1);
    return (exact ? "=" : "") + entries[rank % entries.length];
  }
}
