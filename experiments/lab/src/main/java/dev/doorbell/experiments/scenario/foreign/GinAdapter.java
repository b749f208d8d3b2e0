package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.scenario.world.Endpoint;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.stream.Stream;

/**
 * NCCL's GIN over its back end GDAKI: an array of {@code ncclGinGdakiGPUContext}, one for each
 * queue pair that leads to a peer, each with a queue pair of GPUNetIO for each rank, the own one
 * among them. Behind the last context lies the handle of a window, with the lkey of the payload and
 * the rkeys of all inboxes, and behind it that of the signal words, if the kernel has any; offsets
 * in these windows are addresses.
 *
 * <p>Signals are those of a window and an offset, and those that a number names, word after word.
 * Each context has {@value #COUNTERS} counters, and a companion for each queue pair, which leads
 * the rank to itself: a WAIT for the queue pair's completion there holds back the atomic that
 * counts it.
 */
final class GinAdapter implements ApiAdapter {
  private static final String CONTEXT = "ncclGinGdakiGPUContext";
  private static final String WINDOW = "ncclGinGdakiMemHandle";
  private static final int COUNTERS = 64;

  @Override
  public List<String> fields() {
    return Stream.of(
            GpunetioAdapter.FIELDS.stream(),
            Stream.of(
                    "gdqp",
                    "companion_gdqp",
                    "counters_table.buffer",
                    "counters_table.rkeys",
                    "counters_table.lkey",
                    "counters_table.offset",
                    "signals_table.buffer",
                    "signals_table.rkeys",
                    "signals_table.lkey",
                    "signals_table.offset",
                    "sink_buffer_lkey",
                    "last_issued_get",
                    "last_visible_get")
                .map(field -> CONTEXT + "." + field),
            Stream.of("rkeys", "lkey").map(field -> WINDOW + "." + field))
        .flatMap(names -> names)
        .toList();
  }

  @Override
  public Memory install(ApiLayout layout, Site site) throws ApiLayoutException {
    int ranks = site.targets().size();
    int contexts = site.endpoints().size() / (ranks - 1);
    int qpBytes = layout.place(GpunetioAdapter.QP).bytes();
    int own = site.rank().number();
    List<Endpoint> loopbacks = site.connection().openLoopbacks(own, contexts);
    Memory queuePairs = queuePairs(layout, site, contexts, site.endpoints(), loopbacks);
    Memory companions =
        queuePairs(
            layout,
            site,
            contexts,
            site.connection().openCompanions(own, site.endpoints()),
            site.connection().openCompanions(own, loopbacks));
    Memory counters = allocate(site, (long) contexts * COUNTERS * Long.BYTES, "counters of GIN");
    counters.fill(0, counters.size(), (byte) 0);
    MemoryRegion counted =
        site.owned().add(site.rank().domain().registerFromZero(counters, Endpoint.ALL_RIGHTS));
    Memory counterKeys = allocate(site, (long) ranks * Integer.BYTES, "rkeys of the counters");
    counterKeys.putBytes(
        (long) site.rank().number() * Integer.BYTES, StructImage.bigEndian(counted.rkey()));
    Memory gets = allocate(site, 2L * ranks * Long.BYTES, "gets of each peer");

    // What an atomic fetches goes to offset 0 of the sink, and nobody reads it.
    Memory sink = allocate(site, Long.BYTES, "sink");
    MemoryRegion unread =
        site.owned().add(site.rank().domain().registerFromZero(sink, Endpoint.ALL_RIGHTS));
    StructImage all = StructImage.array(layout, CONTEXT, contexts);
    for (int i = 0; i < contexts; i++) {
      all.element(i)
          .setBigEndian("sink_buffer_lkey", unread.lkey())
          .set("gdqp", queuePairs.address() + (long) i * ranks * qpBytes)
          .set("companion_gdqp", companions.address() + (long) i * ranks * qpBytes)
          .set("counters_table.buffer", counters.address() + (long) i * COUNTERS * Long.BYTES)
          .set("counters_table.rkeys", counterKeys.address())
          .setBigEndian("counters_table.lkey", counted.lkey())
          .set("counters_table.offset", (long) i * COUNTERS)
          .set("last_issued_get", gets.address())
          .set("last_visible_get", gets.address() + (long) ranks * Long.BYTES);
    }
    if (!site.signals().isEmpty()) {
      Memory keys = allocate(site, (long) ranks * Integer.BYTES, "rkeys of the signals");
      for (int rank = 0; rank < ranks; rank++) {
        keys.putBytes(
            (long) rank * Integer.BYTES,
            StructImage.bigEndian(site.signals().get(rank).fromZero().getAsInt()));
      }
      for (int i = 0; i < contexts; i++) {
        all.element(i)
            .set("signals_table.buffer", site.signals().get(site.rank().number()).address())
            .set("signals_table.rkeys", keys.address())
            .setBigEndian("signals_table.lkey", unread.lkey());
      }
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(all.toBytes());
    bytes.writeBytes(window(layout, site, site.targets()));
    if (!site.signals().isEmpty()) {
      bytes.writeBytes(window(layout, site, site.signals()));
    }
    return stored(site, bytes.toByteArray(), CONTEXT);
  }

  /**
   * The queue pairs to all ranks of each context, one context after the other.
   *
   * @param loopbacks those to the own rank
   */
  private static Memory queuePairs(
      ApiLayout layout, Site site, int contexts, List<Endpoint> endpoints, List<Endpoint> loopbacks)
      throws ApiLayoutException {
    int ranks = site.targets().size();
    StructImage qps = StructImage.array(layout, GpunetioAdapter.QP, ranks * contexts);
    int[] turns = new int[ranks];
    for (Endpoint endpoint : endpoints) {
      int peer = site.peer(endpoint);
      GpunetioAdapter.fill(qps.element(turns[peer]++ * ranks + peer), endpoint);
    }
    for (int i = 0; i < contexts; i++) {
      GpunetioAdapter.fill(qps.element(i * ranks + site.rank().number()), loopbacks.get(i));
    }
    return stored(site, qps.toBytes(), "queue pairs of the contexts");
  }

  /** The handle of a window, whose keys lie in memory of their own. */
  private static byte[] window(ApiLayout layout, Site site, List<Span> places)
      throws ApiLayoutException {
    int ranks = places.size();
    Memory keys = allocate(site, (long) ranks * Integer.BYTES, "rkeys of the window");
    for (int rank = 0; rank < ranks; rank++) {
      keys.putBytes((long) rank * Integer.BYTES, StructImage.bigEndian(places.get(rank).key()));
    }
    return StructImage.array(layout, WINDOW, 1)
        .set("rkeys", keys.address())
        .setBigEndian("lkey", site.local().key())
        .toBytes();
  }

  private static Memory stored(Site site, byte[] bytes, String label) {
    Memory memory = allocate(site, bytes.length, label);
    memory.putBytes(0, bytes);
    return memory;
  }

  private static Memory allocate(Site site, long bytes, String label) {
    return site.owned().add(site.rank().gpu().allocate(MemoryKind.DEVICE, bytes, label));
  }
}
