package dev.doorbell.ptxvm.parser;

import java.util.Set;

/** The special registers that can be read (PTX ISA, "Special Registers"). */
final class SpecialRegisters {
  private static final Set<String> NAMES =
      Set.of(
          "%tid.x",
          "%tid.y",
          "%tid.z",
          "%ntid.x",
          "%ntid.y",
          "%ntid.z",
          "%ctaid.x",
          "%ctaid.y",
          "%ctaid.z",
          "%nctaid.x",
          "%nctaid.y",
          "%nctaid.z",
          "%laneid",
          "%warpid",
          "%nwarpid",
          "%smid",
          "%nsmid",
          "%gridid",
          "%lanemask_eq",
          "%lanemask_le",
          "%lanemask_lt",
          "%lanemask_ge",
          "%lanemask_gt",
          "%clock",
          "%clock_hi",
          "%clock64",
          "%globaltimer",
          "%globaltimer_lo",
          "%globaltimer_hi",
          "%total_smem_size",
          "%dynamic_smem_size",
          "%aggr_smem_size",
          "%is_explicit_cluster",
          "%clusterid.x",
          "%clusterid.y",
          "%clusterid.z",
          "%nclusterid.x",
          "%nclusterid.y",
          "%nclusterid.z",
          "%cluster_ctaid.x",
          "%cluster_ctaid.y",
          "%cluster_ctaid.z",
          "%cluster_nctaid.x",
          "%cluster_nctaid.y",
          "%cluster_nctaid.z",
          "%cluster_ctarank",
          "%cluster_nctarank",
          "%envreg1",
          "%envreg2",
          "%reserved_smem_offset_begin",
          "%reserved_smem_offset_end",
          "%reserved_smem_offset_cap",
          "%reserved_smem_offset_0",
          "%reserved_smem_offset_1");

  private SpecialRegisters() {}

  static boolean isKnown(String name) {
    return NAMES.contains(name);
  }
}
