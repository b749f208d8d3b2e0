package dev.doorbell.experiments.workbench.programs;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.explore.ReachableCode;
import dev.doorbell.core.fabric.explore.model.CalmChooser;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.fabric.explore.model.Region;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.experiments.workbench.explore.Failure;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Race;
import dev.doorbell.interop.shim.client.ServedWorld;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs of a program over the exploring fabric. */
public final class ExploredRuns {
  private static final int GPUS_OF_A_PROGRAM = 16;
  private static final String NOTHING = ".version 7.0\n.target sm_70\n.address_size 64\n";

  private final Policy policy;
  private final Adapter adapter;
  private final ReachableCode reachable = new ReachableCode();

  /** The text of each module, with the line of all modules at which it begins. */
  private final Map<String, Integer> modules = new LinkedHashMap<>();

  private int lines;

  public ExploredRuns(Policy policy, Adapter adapter) {
    this.policy = policy;
    this.adapter = adapter;
  }

  /** Begins a run. */
  public Run begin(long seed) {
    return new Run(seed);
  }

  /** A run of a program: its world, and what happened there. */
  public final class Run implements ServedWorld {
    private final long seed;
    private @Nullable Failure failed;
    private @Nullable ExploringFabric fabric;

    private Run(long seed) {
      this.seed = seed;
    }

    @Override
    public Fabric create(AddressSpace memory) {
      ExploringFabric created =
          new ExploringFabric(
              memory,
              new CalmChooser(seed, List.of()),
              new ExploringFabric.Options(policy, true, Long.MAX_VALUE, adapter.promises()));
      fabric = created;
      return created;
    }

    @Override
    public Locus gpu(int program, int index) {
      return Locus.gpu(0, program * GPUS_OF_A_PROGRAM + index);
    }

    @Override
    public Locus nic(int number) {
      return Locus.nic(0, number);
    }

    @Override
    public String module(String ptx) {
      Integer known = modules.get(ptx);
      int before = known == null ? lines : known;
      if (known == null) {
        modules.put(ptx, before);
        lines += (int) ptx.lines().count() + PtxFiles.split("", ptx).size() + 1;
      }
      if (before == 0) {
        return ptx;
      }
      List<PtxFiles.Part> parts = new ArrayList<>();
      parts.add(new PtxFiles.Part("other modules", NOTHING + "\n".repeat(before), 0));
      parts.addAll(PtxFiles.split("module of the program", ptx));
      return PtxFiles.join(parts);
    }

    @Override
    public void queuePair(Locus nic, int number, long ring, long ringBytes, long record) {
      ExploringFabric world = fabric;
      if (world != null && world.memory().accessibleRange(record, Integer.BYTES)) {
        int device = Region.device(nic);
        world.describe(
            new Region(Region.Role.SEND_RING, ring, ringBytes, number, device, false, true));
        world.describe(
            new Region(
                Region.Role.SEND_RECORD, record, Integer.BYTES, number, device, false, true));
      }
    }

    @Override
    public void failed(String message, boolean stuck) {
      if (failed == null) {
        failed = stuck ? Failure.late(message) : Failure.kernel(message, "");
      }
    }

    /**
     * Returns the outcome, once the program has ended.
     *
     * @param status with which it ended
     */
    public Outcome outcome(int status) {
      ExploringFabric world = fabric;
      Failure ended = status == 0 ? null : Failure.status("exit status " + status, "the program");
      Failure first = failed == null ? ended : failed;
      if (world == null) {
        return new Outcome(List.of(), first, true, 0, 0, 0, List.of(), new Coverage());
      }
      return new Outcome(
          world.findings().stream().map(Race::of).toList(),
          first == null ? null : first.withErrors(world.errors()),
          true,
          0,
          world.instructions(),
          0,
          List.of(),
          world.coverage(reachable));
    }
  }
}
