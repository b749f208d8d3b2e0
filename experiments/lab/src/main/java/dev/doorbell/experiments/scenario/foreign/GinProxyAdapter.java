package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.proxy.GinFormat;
import dev.doorbell.proxy.GinProxyAgent;
import dev.doorbell.proxy.SendQueueAccess;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongFunction;

/**
 * NCCL's GIN over its back end Proxy: an array of {@code ncclGinProxyGpuCtx_t}, one for each queue
 * pair that leads to a peer, each with a queue of descriptors for each rank in host memory. A
 * {@link GinProxyAgent} serves them all.
 *
 * <p>Windows are handles without content, {@value #WINDOW_BYTES} bytes apart behind the last
 * context: of the inboxes, with the lkey of the payload, and of the signal words, where the kernel
 * has any. Offsets in both are addresses. Each context has {@value #COUNTERS} counters.
 */
final class GinProxyAdapter implements ApiAdapter {
  private static final String CONTEXT = "ncclGinProxyGpuCtx_t";
  private static final String DESCRIPTOR = "ncclGinProxyGfd_t";
  private static final String WORDS = "doorbell_gin_descriptor";
  private static final String BITS = "doorbell_gin_operation";
  private static final int COUNTERS = 64;
  private static final int WINDOW_BYTES = 16;

  /** Descriptors of a queue. */
  private static final int ENTRIES = 64;

  @Override
  public List<String> fields() {
    List<String> fields = new ArrayList<>();
    for (String field :
        List.of(
            "nranks",
            "queueSize",
            "queues",
            "pis",
            "cis",
            "counters",
            "signals",
            "signalOffsets",
            "lastIssuedGet",
            "lastVisibleGet")) {
      fields.add(CONTEXT + "." + field);
    }
    for (GinFormat.Word word : GinFormat.Word.values()) {
      fields.add(field(word));
    }
    for (GinFormat.Bit bit : GinFormat.Bit.values()) {
      fields.add(field(bit));
    }
    return fields;
  }

  private static String field(GinFormat.Word word) {
    return WORDS + "." + word.name().toLowerCase(Locale.ROOT);
  }

  private static String field(GinFormat.Bit bit) {
    String name = bit.name().toLowerCase(Locale.ROOT);
    return BITS + "." + (bit == GinFormat.Bit.INLINE ? "inlined" : name);
  }

  @Override
  public Memory install(ApiLayout layout, Site site) throws ApiLayoutException {
    int ranks = site.targets().size();
    int contexts = site.endpoints().size() / (ranks - 1);
    int descriptor = layout.place(DESCRIPTOR).bytes();
    if (descriptor != GinFormat.WORDS * Long.BYTES) {
      throw new ApiLayoutException(
          "%s has %d bytes, and 128 are known".formatted(DESCRIPTOR, descriptor),
          "use a version in which it has 128");
    }
    int contextBytes = layout.place(CONTEXT).bytes();
    int handles = contextBytes * contexts;
    Memory all =
        zeroed(site, MemoryKind.DEVICE, handles + 2L * WINDOW_BYTES, "contexts of GIN's proxy");
    Memory sink = zeroed(site, MemoryKind.DEVICE, Long.BYTES, "sink");
    MemoryRegion unread =
        site.owned().add(site.rank().domain().register(sink, Endpoint.ALL_RIGHTS));
    Memory offsets =
        zeroed(site, MemoryKind.DEVICE, Math.max(Long.BYTES, words(site)), "signal offsets");
    World world = site.connection().world();
    GinProxyAgent agent =
        site.owned()
            .add(
                new GinProxyAgent(
                    world.fabric(), Locus.cpu(site.rank().number()), world.cpuPrices()));
    StructImage images = StructImage.array(layout, CONTEXT, contexts);
    Endpoint[][] queuePairs = queuePairs(site, contexts);
    for (int i = 0; i < contexts; i++) {
      Memory ring =
          zeroed(site, MemoryKind.HOST, (long) ranks * ENTRIES * descriptor, "descriptors of GIN");
      Memory ended = zeroed(site, MemoryKind.HOST, (long) ranks * Integer.BYTES, "ended");
      Memory counters =
          zeroed(site, MemoryKind.HOST, (long) COUNTERS * Long.BYTES, "counters of GIN");
      images
          .element(i)
          .set("nranks", ranks)
          .set("queueSize", ENTRIES)
          .set("queues", ring.address())
          .set("pis", perRank(site, "posted"))
          .set("cis", ended.address())
          .set("counters", counters.address())
          .set("signals", site.signals().isEmpty() ? 0 : ownSignals(site).address())
          .set("signalOffsets", offsets.address())
          .set("lastIssuedGet", perRank(site, "gets"))
          .set("lastVisibleGet", perRank(site, "visible gets"));
      for (int peer = 0; peer < ranks; peer++) {
        Endpoint endpoint = queuePairs[i][peer];
        Span signals = site.signals().isEmpty() ? null : site.signals().get(peer);
        agent.serve(
            new GinProxyAgent.Queue(
                ring.address() + (long) peer * ENTRIES * descriptor,
                ENTRIES,
                ended.address() + (long) peer * Integer.BYTES,
                counters.address(),
                signals == null ? 0 : signals.address(),
                signals == null ? 0 : signals.key(),
                sink.address(),
                unread.lkey(),
                windows(site, peer, all.address() + handles)),
            format(layout),
            SendQueueAccess.of(endpoint.queuePair(), endpoint.view()));
      }
    }
    all.putBytes(0, images.toBytes());
    return all;
  }

  private static Span ownSignals(Site site) {
    return site.signals().get(site.rank().number());
  }

  private static long words(Site site) {
    return site.signals().isEmpty() ? 0 : ownSignals(site).bytes();
  }

  /** The queue pair of each context to each rank, the own one among them. */
  private static Endpoint[][] queuePairs(Site site, int contexts) {
    int ranks = site.targets().size();
    Endpoint[][] all = new Endpoint[contexts][ranks];
    int[] turns = new int[ranks];
    for (Endpoint endpoint : site.endpoints()) {
      int peer = site.peer(endpoint);
      all[turns[peer]++][peer] = endpoint;
    }
    int own = site.rank().number();
    List<Endpoint> loopbacks = site.connection().openLoopbacks(own, contexts);
    for (int i = 0; i < contexts; i++) {
      all[i][own] = loopbacks.get(i);
    }
    return all;
  }

  /** The keys of the two windows, for the queue to {@code peer}. */
  private static LongFunction<GinProxyAgent.Window> windows(Site site, int peer, long first) {
    int local = site.local().key();
    int inbox = site.targets().get(peer).key();
    int signals = site.signals().isEmpty() ? 0 : site.signals().get(peer).key();
    return handle -> {
      if (handle == first) {
        return new GinProxyAgent.Window(local, inbox);
      }
      if (handle == first + WINDOW_BYTES && !site.signals().isEmpty()) {
        return new GinProxyAgent.Window(local, signals);
      }
      throw new IllegalStateException(
          "0x%x is no window; those of GIN's proxy are behind the contexts, 16 bytes apart, at 0x%x"
              .formatted(handle, first));
    };
  }

  /** The enumerators of the library: each a field that is larger by one. */
  private static GinFormat format(ApiLayout layout) throws ApiLayoutException {
    Map<GinFormat.Word, Integer> places = new EnumMap<>(GinFormat.Word.class);
    for (GinFormat.Word word : GinFormat.Word.values()) {
      int place = layout.place(field(word)).bytes() - 1;
      if (place >= GinFormat.WORDS) {
        throw new ApiLayoutException(
            "%s is word %d of a descriptor of %d".formatted(field(word), place, GinFormat.WORDS),
            "use a version in which it is within");
      }
      places.put(word, place);
    }
    Map<GinFormat.Bit, Integer> bits = new EnumMap<>(GinFormat.Bit.class);
    for (GinFormat.Bit bit : GinFormat.Bit.values()) {
      bits.put(bit, layout.place(field(bit)).bytes() - 1);
    }
    return new GinFormat(places, bits);
  }

  /** A zeroed word of 32 bits for each rank. */
  private static long perRank(Site site, String label) {
    return zeroed(site, MemoryKind.DEVICE, (long) site.targets().size() * Integer.BYTES, label)
        .address();
  }

  private static Memory zeroed(Site site, MemoryKind kind, long bytes, String label) {
    Memory memory = site.owned().add(site.rank().gpu().allocate(kind, bytes, label));
    memory.fill(0, bytes, (byte) 0);
    return memory;
  }
}
