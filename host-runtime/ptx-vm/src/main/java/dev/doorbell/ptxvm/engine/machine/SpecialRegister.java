package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.ptxvm.engine.machine.Cta.Windows;
import dev.doorbell.ptxvm.engine.machine.GridContext.GridShape;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A special register whose value a thread keeps for life; it costs a slot and no instruction. */
public enum SpecialRegister {
  TID_X("%tid.x", (g, b, t) -> g.shape.threadX(t)),
  TID_Y("%tid.y", (g, b, t) -> g.shape.threadY(t)),
  TID_Z("%tid.z", (g, b, t) -> g.shape.threadZ(t)),
  NTID_X("%ntid.x", (g, b, t) -> g.shape.config().blockX()),
  NTID_Y("%ntid.y", (g, b, t) -> g.shape.config().blockY()),
  NTID_Z("%ntid.z", (g, b, t) -> g.shape.config().blockZ()),
  CTAID_X("%ctaid.x", (g, b, t) -> g.shape.blockX(b)),
  CTAID_Y("%ctaid.y", (g, b, t) -> g.shape.blockY(b)),
  CTAID_Z("%ctaid.z", (g, b, t) -> g.shape.blockZ(b)),
  NCTAID_X("%nctaid.x", (g, b, t) -> g.shape.config().gridX()),
  NCTAID_Y("%nctaid.y", (g, b, t) -> g.shape.config().gridY()),
  NCTAID_Z("%nctaid.z", (g, b, t) -> g.shape.config().gridZ()),
  LANEID("%laneid", (g, b, t) -> lane(t)),
  WARPID("%warpid", (g, b, t) -> t / GridShape.LANES),
  NWARPID("%nwarpid", (g, b, t) -> (g.shape.threads() + GridShape.LANES - 1) / GridShape.LANES),
  SMID("%smid", (g, b, t) -> b % g.settings.multiprocessors()),
  NSMID("%nsmid", (g, b, t) -> g.settings.multiprocessors()),
  GRIDID("%gridid", (g, b, t) -> g.number),
  LANEMASK_EQ("%lanemask_eq", (g, b, t) -> 1L << lane(t)),
  LANEMASK_LE("%lanemask_le", (g, b, t) -> (2L << lane(t)) - 1),
  LANEMASK_LT("%lanemask_lt", (g, b, t) -> (1L << lane(t)) - 1),
  LANEMASK_GE("%lanemask_ge", (g, b, t) -> -1L << lane(t) & 0xffffffffL),
  LANEMASK_GT("%lanemask_gt", (g, b, t) -> -2L << lane(t) & 0xffffffffL),
  TOTAL_SMEM_SIZE("%total_smem_size", (g, b, t) -> g.sharedBytes()),
  AGGR_SMEM_SIZE("%aggr_smem_size", (g, b, t) -> g.sharedBytes()),
  DYNAMIC_SMEM_SIZE("%dynamic_smem_size", (g, b, t) -> g.shape.config().dynamicSharedBytes()),
  IS_EXPLICIT_CLUSTER("%is_explicit_cluster", (g, b, t) -> 0),
  // Without clusters every block is a cluster of its own.
  CLUSTERID_X("%clusterid.x", CTAID_X.value),
  CLUSTERID_Y("%clusterid.y", CTAID_Y.value),
  CLUSTERID_Z("%clusterid.z", CTAID_Z.value),
  NCLUSTERID_X("%nclusterid.x", NCTAID_X.value),
  NCLUSTERID_Y("%nclusterid.y", NCTAID_Y.value),
  NCLUSTERID_Z("%nclusterid.z", NCTAID_Z.value),
  CLUSTER_CTAID_X("%cluster_ctaid.x", (g, b, t) -> 0),
  CLUSTER_CTAID_Y("%cluster_ctaid.y", (g, b, t) -> 0),
  CLUSTER_CTAID_Z("%cluster_ctaid.z", (g, b, t) -> 0),
  CLUSTER_NCTAID_X("%cluster_nctaid.x", (g, b, t) -> 1),
  CLUSTER_NCTAID_Y("%cluster_nctaid.y", (g, b, t) -> 1),
  CLUSTER_NCTAID_Z("%cluster_nctaid.z", (g, b, t) -> 1),
  CLUSTER_CTARANK("%cluster_ctarank", (g, b, t) -> 0),
  CLUSTER_NCTARANK("%cluster_nctarank", (g, b, t) -> 1),
  // The address of what the blocks of a cooperative grid meet at, as cooperative groups ask for it.
  ENVREG1("%envreg1", (g, b, t) -> g.workspace >>> 32),
  ENVREG2("%envreg2", (g, b, t) -> g.workspace & 0xffffffffL),
  RESERVED_BEGIN("%reserved_smem_offset_begin", (g, b, t) -> 0),
  RESERVED_END("%reserved_smem_offset_end", (g, b, t) -> Windows.RESERVED_BYTES),
  RESERVED_CAP("%reserved_smem_offset_cap", (g, b, t) -> Windows.RESERVED_BYTES),
  RESERVED_0("%reserved_smem_offset_0", (g, b, t) -> 0),
  RESERVED_1("%reserved_smem_offset_1", (g, b, t) -> Windows.RESERVED_BYTES / 2);

  private interface Value {
    long of(GridContext grid, int block, int thread);
  }

  private static final Map<String, SpecialRegister> BY_NAME = new HashMap<>();

  static {
    for (SpecialRegister register : values()) {
      BY_NAME.put(register.ptx, register);
    }
  }

  private final String ptx;

  @SuppressWarnings("ImmutableEnumChecker") // the lambdas capture nothing
  private final Value value;

  SpecialRegister(String ptx, Value value) {
    this.ptx = ptx;
    this.value = value;
  }

  /** True when a kernel that reads this needs the reserved shared memory. */
  public static boolean isReserved(String name) {
    return name.startsWith("%reserved_smem");
  }

  public static @Nullable SpecialRegister of(String name) {
    return BY_NAME.get(name);
  }

  /** The value that a thread of a block has for life; both are linear indices. */
  long value(GridContext grid, int block, int thread) {
    return value.of(grid, block, thread);
  }

  private static int lane(int thread) {
    return thread & (GridShape.LANES - 1);
  }
}
