package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.gpu.LaunchConfig;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A special register whose value a thread keeps for life; it costs a slot and no instruction. */
enum SpecialRegister {
  TID_X("%tid.x", t -> t.cta.grid.shape.threadX(t.index)),
  TID_Y("%tid.y", t -> t.cta.grid.shape.threadY(t.index)),
  TID_Z("%tid.z", t -> t.cta.grid.shape.threadZ(t.index)),
  NTID_X("%ntid.x", t -> config(t).blockX()),
  NTID_Y("%ntid.y", t -> config(t).blockY()),
  NTID_Z("%ntid.z", t -> config(t).blockZ()),
  CTAID_X("%ctaid.x", t -> t.cta.grid.shape.blockX(t.cta.index)),
  CTAID_Y("%ctaid.y", t -> t.cta.grid.shape.blockY(t.cta.index)),
  CTAID_Z("%ctaid.z", t -> t.cta.grid.shape.blockZ(t.cta.index)),
  NCTAID_X("%nctaid.x", t -> config(t).gridX()),
  NCTAID_Y("%nctaid.y", t -> config(t).gridY()),
  NCTAID_Z("%nctaid.z", t -> config(t).gridZ()),
  LANEID("%laneid", t -> t.lane),
  WARPID("%warpid", t -> t.index / Warp.SIZE),
  NWARPID("%nwarpid", t -> (t.cta.grid.shape.threads() + Warp.SIZE - 1) / Warp.SIZE),
  SMID("%smid", t -> t.cta.index % t.cta.grid.multiprocessors()),
  NSMID("%nsmid", t -> t.cta.grid.multiprocessors()),
  GRIDID("%gridid", t -> t.cta.grid.number()),
  LANEMASK_EQ("%lanemask_eq", t -> 1L << t.lane),
  LANEMASK_LE("%lanemask_le", t -> (2L << t.lane) - 1),
  LANEMASK_LT("%lanemask_lt", t -> (1L << t.lane) - 1),
  LANEMASK_GE("%lanemask_ge", t -> -1L << t.lane & 0xffffffffL),
  LANEMASK_GT("%lanemask_gt", t -> -2L << t.lane & 0xffffffffL),
  TOTAL_SMEM_SIZE("%total_smem_size", t -> t.sharedSize),
  AGGR_SMEM_SIZE("%aggr_smem_size", t -> t.sharedSize),
  DYNAMIC_SMEM_SIZE("%dynamic_smem_size", t -> config(t).dynamicSharedBytes()),
  IS_EXPLICIT_CLUSTER("%is_explicit_cluster", t -> 0),
  // Without clusters every block is a cluster of its own.
  CLUSTERID_X("%clusterid.x", CTAID_X.value),
  CLUSTERID_Y("%clusterid.y", CTAID_Y.value),
  CLUSTERID_Z("%clusterid.z", CTAID_Z.value),
  NCLUSTERID_X("%nclusterid.x", NCTAID_X.value),
  NCLUSTERID_Y("%nclusterid.y", NCTAID_Y.value),
  NCLUSTERID_Z("%nclusterid.z", NCTAID_Z.value),
  CLUSTER_CTAID_X("%cluster_ctaid.x", t -> 0),
  CLUSTER_CTAID_Y("%cluster_ctaid.y", t -> 0),
  CLUSTER_CTAID_Z("%cluster_ctaid.z", t -> 0),
  CLUSTER_NCTAID_X("%cluster_nctaid.x", t -> 1),
  CLUSTER_NCTAID_Y("%cluster_nctaid.y", t -> 1),
  CLUSTER_NCTAID_Z("%cluster_nctaid.z", t -> 1),
  CLUSTER_CTARANK("%cluster_ctarank", t -> 0),
  CLUSTER_NCTARANK("%cluster_nctarank", t -> 1),
  // The address of what the blocks of a cooperative grid meet at, as cooperative groups ask for it.
  ENVREG1("%envreg1", t -> t.cta.grid.workspace() >>> 32),
  ENVREG2("%envreg2", t -> t.cta.grid.workspace() & 0xffffffffL),
  RESERVED_BEGIN("%reserved_smem_offset_begin", t -> 0),
  RESERVED_END("%reserved_smem_offset_end", t -> Windows.RESERVED_BYTES),
  RESERVED_CAP("%reserved_smem_offset_cap", t -> Windows.RESERVED_BYTES),
  RESERVED_0("%reserved_smem_offset_0", t -> 0),
  RESERVED_1("%reserved_smem_offset_1", t -> Windows.RESERVED_BYTES / 2);

  private interface Value {
    long of(VmThread thread);
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
  static boolean isReserved(String name) {
    return name.startsWith("%reserved_smem");
  }

  static @Nullable SpecialRegister of(String name) {
    return BY_NAME.get(name);
  }

  long value(VmThread thread) {
    return value.of(thread);
  }

  private static LaunchConfig config(VmThread t) {
    return t.cta.grid.shape.config();
  }
}
