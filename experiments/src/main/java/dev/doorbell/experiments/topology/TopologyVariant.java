package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.Constant;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

/** A topology with one parameter changed: the values of the {@code variant} setting. */
public enum TopologyVariant {
  /** Nothing is. */
  AS_IS,
  /** PCIe links of generation 4. */
  GEN4,
  /** PCIe links of eight lanes. */
  LANES8,
  /** TLPs carry 128 bytes at most. */
  PAYLOAD128,
  /** The HCA asks for 4096 bytes at once. */
  REQUEST4096,
  /** Completers answer reads in pieces of 64 bytes, as with a read completion boundary of 64. */
  COMPLETIONS64,
  /** The HCA has 32 reads outstanding at most. */
  TAGS32,
  /** Every hop takes twice as long. */
  FAR;

  private static final int GENERATION = 4;
  private static final int LANES = 8;
  private static final int PAYLOAD = 128;
  private static final int REQUEST = 4096;
  private static final int COMPLETION = 64;
  private static final int TAGS = 32;
  private static final int TIMES = 2;

  /** The variant of a word. */
  public static TopologyVariant of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /** The topology with this changed; its name and its constants say so. */
  public Topology of(Topology base) {
    return switch (this) {
      case AS_IS -> base;
      case GEN4 ->
          changed(base, links(base, link -> pcie(link, GENERATION, link.lanes())), GENERATION);
      case LANES8 ->
          changed(base, links(base, link -> pcie(link, link.generation(), LANES)), LANES);
      case PAYLOAD128 -> changed(base, links(base, TopologyVariant::shortPayload), PAYLOAD);
      case REQUEST4096 ->
          changed(base, nics(base, nic -> nic(nic, REQUEST, nic.readTags())), REQUEST);
      case TAGS32 -> changed(base, nics(base, nic -> nic(nic, nic.maxReadRequest(), TAGS)), TAGS);
      case COMPLETIONS64 -> changed(base, completions(base), COMPLETION);
      case FAR -> changed(base, far(base), TIMES);
    };
  }

  private Topology changed(Topology base, Topology changed, double value) {
    String word = name().toLowerCase(Locale.ROOT);
    List<Constant> constants = new ArrayList<>(base.constants());
    constants.add(new Constant("variant", value, "", Constant.Origin.ASSUMED, "what if: " + word));
    return new Topology(
        "%s+%s".formatted(base.name(), word),
        base.description(),
        changed.gpus(),
        changed.cpus(),
        changed.nics(),
        changed.links(),
        changed.paths(),
        changed.network(),
        base.nvlink(),
        constants);
  }

  private static Topology with(
      Topology base,
      List<GpuPrices> gpus,
      List<NicPrices> nics,
      List<Link> links,
      List<Path> paths) {
    return new Topology(
        base.name(),
        base.description(),
        gpus,
        base.cpus(),
        nics,
        links,
        paths,
        base.network(),
        base.nvlink(),
        base.constants());
  }

  /** Changes PCIe links alone; interconnects of the host stay. */
  private static Topology links(Topology base, UnaryOperator<Link> change) {
    List<Link> links =
        base.links().stream()
            .map(link -> link.generation() == 0 ? link : change.apply(link))
            .toList();
    return with(base, base.gpus(), base.nics(), links, base.paths());
  }

  private static Link pcie(Link link, int generation, int lanes) {
    return new Link(
        link.name(),
        link.from(),
        link.to(),
        generation,
        lanes,
        Link.rate(generation, lanes),
        link.maxPayload(),
        link.wideAddresses(),
        link.ecrc(),
        link.efficiency(),
        link.credits());
  }

  private static Link shortPayload(Link link) {
    return new Link(
        link.name(),
        link.from(),
        link.to(),
        link.generation(),
        link.lanes(),
        link.bytesPerNano(),
        PAYLOAD,
        link.wideAddresses(),
        link.ecrc(),
        link.efficiency(),
        link.credits());
  }

  private static Topology nics(Topology base, UnaryOperator<NicPrices> change) {
    return with(
        base, base.gpus(), base.nics().stream().map(change).toList(), base.links(), base.paths());
  }

  private static NicPrices nic(NicPrices nic, int request, int tags) {
    return new NicPrices(
        nic.doorbell(),
        nic.wqe(),
        nic.packet(),
        nic.onChipRead(),
        nic.memoryService(),
        request,
        tags,
        nic.completionBytes(),
        nic.finer(),
        nic.dma());
  }

  private static Topology completions(Topology base) {
    List<GpuPrices> gpus =
        base.gpus().stream()
            .map(
                gpu ->
                    new GpuPrices(
                        gpu.instruction(),
                        gpu.load(),
                        gpu.loadHit(),
                        gpu.strongLoad(),
                        gpu.store(),
                        gpu.remoteStore(),
                        gpu.atomic(),
                        gpu.fence(),
                        gpu.fenceSystem(),
                        gpu.fenceFloor(),
                        gpu.memoryService(),
                        gpu.storeGranule(),
                        gpu.combineWindow(),
                        COMPLETION,
                        gpu.copyEngineStart(),
                        gpu.copyEngineRate(),
                        gpu.finer()))
            .toList();
    return with(base, gpus, base.nics(), base.links(), base.paths());
  }

  private static Topology far(Topology base) {
    List<Path> paths =
        base.paths().stream()
            .map(
                path ->
                    new Path(
                        path.from(),
                        path.to(),
                        path.hops().stream()
                            .map(hop -> new Hop(hop.link(), TIMES * hop.nanos()))
                            .toList(),
                        path.peerReads(),
                        path.readCap(),
                        path.writeCap(),
                        path.strictWriteCap(),
                        path.relaxedOrdering(),
                        path.jitterNanos()))
            .toList();
    return with(base, base.gpus(), base.nics(), base.links(), paths);
  }
}
