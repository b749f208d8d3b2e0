package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Promise.Queues;
import dev.doorbell.core.efa.TxWqe;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.kernel.KernelDescriptor.Measures;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelBuffer;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.BackEnds;
import dev.doorbell.experiments.scenario.kernel.KernelScope;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.QueueSettings.AdapterName;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Refuses transfers that are impossible, without running them. */
final class TransferChecks {
  private static final String LATENCY = "latency";
  private static final long MOST_BYTES = 1L << 30;

  private TransferChecks() {}

  static void checkQueues(TransferSettings of, Adapter adapter, Checks checks) {
    int inline =
        switch (adapter.promises().queues()) {
          case MLX5 -> Integer.MAX_VALUE;
          case EFA -> TxWqe.MAX_INLINE;
        };
    checks.refuseIf(
        of.path().inline() && of.size() > inline,
        "%d bytes inline on nic %s".formatted(of.size(), adapter),
        "its work requests hold %d".formatted(inline),
        "exclude: { nic: %s, path: %s }".formatted(adapter, of.path().word()));
    checks.refuseIf(
        of.path() == TransferPath.PROXY && adapter.promises().queues() != Queues.MLX5,
        "path proxy on nic %s".formatted(adapter),
        "the proxy posts mlx5 work requests",
        "use another path");
  }

  static void check(TransferSettings of, Protocols protocols, Checks checks) {
    Point point = of.point();
    List<Protocol> chosen = new ArrayList<>();
    for (String name : point.kernels()) {
      Protocol protocol = protocols.find(name);
      checks
          .code("DB-P019")
          .refuseIf(
              protocol == null,
              "there is no kernel '%s'".formatted(name),
              "doorbell list kernels; --kernels DIR names the folder of your own");
      if (protocol != null) {
        chosen.add(protocol);
      }
    }
    if (chosen.size() < point.kernels().size()) {
      return;
    }
    if (Protocols.wantsLatency(point)) {
      check(of, chosen, Measures.LATENCY, LATENCY, "put_latency", checks);
    }
    Protocol turns = protocols.turns(point);
    if (turns != null && turns.descriptor().measures() == Measures.NOTHING) {
      check(of, chosen, Measures.NOTHING, "its own metrics", turns.name(), checks);
    }
    if (protocols.wantsGoodput(point)) {
      Set<String> brought = protocols.brought(point);
      String metric =
          point.metrics().stream()
              .filter(one -> !one.equals(LATENCY) && !brought.contains(one))
              .findFirst()
              .orElse("its own metrics");
      check(of, chosen, Measures.GOODPUT, metric, "put_bandwidth", checks);
    }
    for (Protocol protocol : chosen) {
      checkMemory(of, protocol, checks);
      checkBackEnd(of, protocol, checks);
    }
  }

  /**
   * Refuses kernels without a back end for an adapter's queues: they would write mlx5 work requests
   * to them.
   */
  private static void checkBackEnd(TransferSettings of, Protocol protocol, Checks checks) {
    Adapter adapter = AdapterName.of(of.point());
    BackEnds.lacking(protocol.ptx(), adapter)
        .ifPresent(
            lacking ->
                checks
                    .code("DB-P022")
                    .refuseIf(
                        true,
                        "kernel %s on nic %s: it has %s"
                            .formatted(protocol.name(), adapter, lacking),
                        "it would write mlx5 work requests",
                        BackEnds.FIX));
  }

  /** Sizes of buffers come from formulas of the settings. */
  private static void checkMemory(TransferSettings of, Protocol protocol, Checks checks) {
    KernelScope scope = new TransferPlan(of, protocol, 1, 1).scope(of.point().samples(), 0);
    long bytes = 0;
    for (KernelBuffer buffer : scope.extension().buffers()) {
      try {
        bytes += (long) scope.count(buffer) * buffer.type().bytes();
      } catch (FormulaException e) {
        checks
            .code("DB-P049")
            .refuseIf(
                true, e.why(), "change the settings, or the formula in the kernel's descriptor");
      }
    }
    checks
        .code("DB-P049")
        .refuseIf(
            bytes * scope.ranks() > MOST_BYTES,
            "%d bytes of buffers at each of %d ranks".formatted(bytes, scope.ranks()),
            "use at most 1 GiB together");
  }

  private static void check(
      TransferSettings of,
      List<Protocol> chosen,
      Measures what,
      String metric,
      String example,
      Checks checks) {
    List<Protocol> able =
        chosen.stream().filter(protocol -> protocol.descriptor().measures() == what).toList();
    Checks kernels = checks.code("DB-P017");
    kernels.refuseIf(
        able.isEmpty(),
        "no kernel of %s measures %s".formatted(String.join(", ", of.point().kernels()), metric),
        "add one that does, such as %s, or drop the metric".formatted(example));
    if (able.size() > 1) {
      kernels.refuseIf(
          true,
          "%s and %s both measure %s".formatted(able.get(0).name(), able.get(1).name(), metric),
          "a point has one sample of each metric",
          "name one of them; run the other in an experiment of its own");
    }
    for (Protocol protocol : able) {
      checkRanks(of, protocol, checks);
      String path = of.path().word();
      List<String> taken =
          TransferPath.words().stream().filter(protocol.descriptor()::takes).toList();
      checks
          .code("DB-P018")
          .refuseIf(
              !taken.contains(path),
              "kernel %s does not take the path %s".formatted(protocol.name(), path),
              "its descriptor names " + String.join(", ", taken),
              "leave the path out, or exclude: { path: %s }".formatted(path));
    }
  }

  private static void checkRanks(TransferSettings of, Protocol protocol, Checks checks) {
    if (!protocol.descriptor().launch().allRanks()) {
      checks.refuseIf(
          of.ranks() != 2,
          "ranks is %d, and kernel %s runs at two".formatted(of.ranks(), protocol.name()),
          "leave ranks out, or use a kernel whose descriptor says launch: { ranks: all }");
      return;
    }
    checks.refuseIf(
        of.qps() != 1,
        "kernel %s with %d queue pairs".formatted(protocol.name(), of.qps()),
        "it runs at all ranks, and has one to each other rank",
        "leave qps out");
    checks.refuseIf(
        (long) of.size() * of.ranks() > MOST_BYTES,
        "a message of %d bytes for each of %d ranks".formatted(of.size(), of.ranks()),
        "use at most 1 GiB together");
  }

  static void check(TransferSettings of, ExecutionBackend.Verbs backend, Checks checks) {
    HcaAttributes has = backend.attributes();
    String on = " on hca: " + backend.hca().filter();
    String path = of.path().word();
    int depth = of.queues().depth();
    checks.refuseIf(
        of.path().needsBlueFlame() && has.blueFlameBytes() < SendQueue.BLOCK,
        "path %s, and no BlueFlame register".formatted(path) + on,
        "WQEs cannot be stored to the device",
        "-s path=pull,push.inline,staged,proxy");
    checks.refuseIf(
        of.path() == TransferPath.PUSH_MEMIC && has.onChipBytes() < TransferSettings.STAGING_BYTES,
        "path %s, and %d bytes of on-chip memory".formatted(path, has.onChipBytes()) + on,
        "%d are needed".formatted(TransferSettings.STAGING_BYTES),
        "leave the path out, or use hca: soft");
    checks.refuseIf(
        of.path().inline() && of.size() > has.maxInlineBytes(),
        "%d bytes inline, of at most %d".formatted(of.size(), has.maxInlineBytes()) + on,
        "exclude: { path: %s, size: \">%d\" }".formatted(path, has.maxInlineBytes()));
    checks.refuseIf(
        depth < has.minSendBlocks() || depth > has.maxSendBlocks(),
        "a send ring of %d blocks".formatted(depth) + on,
        "use a depth from %d to %d".formatted(has.minSendBlocks(), has.maxSendBlocks()));
    checks.refuseIf(
        !of.point().faults().faults().isEmpty(),
        "a fault plan" + on,
        "software HCAs alone inject faults on demand",
        "use hca: soft");
  }
}
