package dev.doorbell.contract;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.List;
import java.util.Map;

/** A machine of round constants, GPU and HCA under one switch; not a measurement. */
public final class RoundTopology {
  private RoundTopology() {}

  public static Topology sameSwitch() {
    return make(true);
  }

  /** Between GPU and HCA, writes are routed but reads are not. */
  public static Topology withoutPeerReads() {
    return make(false);
  }

  private static Topology make(boolean peerReads) {
    List<Link> links =
        List.of(
            Link.pcie("gpu", "gpu0", "switch", 4, 16, 256, 0.95),
            Link.pcie("nic", "nic0", "switch", 4, 16, 256, 0.95),
            Link.pcie("root", "switch", "cpu0", 4, 16, 256, 0.95));
    List<Path> paths =
        List.of(
            new Path(
                "gpu0",
                "nic0",
                List.of(new Hop("gpu", 175), new Hop("nic", 75)),
                peerReads,
                0,
                0,
                0,
                true,
                0),
            Path.of("gpu0", "cpu0", List.of(new Hop("gpu", 175), new Hop("root", 275))),
            Path.of("nic0", "cpu0", List.of(new Hop("nic", 75), new Hop("root", 275))));
    return new Topology(
        "round",
        "round constants",
        List.of(
            Prices.of(
                GpuPrices.class,
                Map.of(
                    "strongLoad",
                    2,
                    "atomic",
                    150,
                    "fence",
                    200,
                    "fenceSystem",
                    200,
                    "memoryService",
                    300,
                    "storeGranule",
                    128,
                    "combineWindow",
                    50,
                    "copyEngineStart",
                    6500,
                    "copyEngineRate",
                    26))),
        List.of(
            Prices.of(
                CpuPrices.class,
                Map.of(
                    "post",
                    80,
                    "poll",
                    100,
                    "memoryService",
                    90,
                    "storeGranule",
                    64,
                    "combineWindow",
                    100))),
        List.of(
            Prices.of(
                NicPrices.class,
                Map.of("doorbell", 50, "wqe", 120, "packet", 100, "maxReadRequest", 512))),
        links,
        paths,
        new Network(1000, 50, 58, Network.Framing.ETHERNET),
        null,
        List.of());
  }
}
