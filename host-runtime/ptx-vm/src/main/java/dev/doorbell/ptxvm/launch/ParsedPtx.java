package dev.doorbell.ptxvm.launch;

import dev.doorbell.ptxvm.engine.link.KernelLinker;
import dev.doorbell.ptxvm.engine.link.KernelLinker.LinkOptions;
import dev.doorbell.ptxvm.engine.link.KernelLinker.LinkedKernel;
import dev.doorbell.ptxvm.engine.link.ModuleAnalysis;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * PTX that was parsed, and linked once for all GPUs that load it. The process keeps what was loaded
 * lately: a sweep or an exploration loads the same text hundreds of times, into a new world each,
 * and every rank of a world loads it; parsing and linking it cost more than a short run.
 */
final class ParsedPtx {
  private static final int KEPT = 8;

  private static final Map<Source, ParsedPtx> RECENT =
      new LinkedHashMap<>(2 * KEPT, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Source, ParsedPtx> eldest) {
          return size() > KEPT;
        }
      };

  private record Source(String name, String text) {}

  /**
   * Result of checking and linking.
   *
   * @param kernels by name, those that were linked until now
   * @param refusals what cannot be run, by line, parsing included
   */
  private record Linked(Map<String, LinkedKernel> kernels, SortedMap<Integer, Refusal> refusals) {}

  private final PtxParser.Result result;
  private final ModuleAnalysis analysis;
  private final Map<LinkOptions, Linked> linked = new HashMap<>();

  private ParsedPtx(PtxParser.Result result) {
    this.result = result;
    this.analysis = new ModuleAnalysis(result.module());
  }

  static ParsedPtx of(String name, String text) {
    Source source = new Source(name, text);
    synchronized (RECENT) {
      return RECENT.computeIfAbsent(
          source, key -> new ParsedPtx(PtxParser.parse(key.name(), key.text())));
    }
  }

  PtxModule module() {
    return result.module();
  }

  /** Returns what the parser refused, by line. */
  SortedMap<Integer, Refusal> refusals() {
    SortedMap<Integer, Refusal> refusals = new TreeMap<>();
    result.refusals().forEach(refusal -> refusals.putIfAbsent(refusal.line(), refusal));
    return refusals;
  }

  /** Links one kernel for one GPU, whose compiler may change it. */
  LinkedKernel link(String kernel, LinkOptions options) {
    return KernelLinker.link(analysis, kernel, options);
  }

  /** Returns what cannot be run, by line, parsing included. */
  synchronized SortedMap<Integer, Refusal> refusals(LinkOptions options) {
    return Collections.unmodifiableSortedMap(linked(options).refusals);
  }

  /** A kernel for all GPUs, linked once, unless calls through pointers add operations to it. */
  synchronized LinkedKernel shared(String kernel, LinkOptions options) {
    Map<String, LinkedKernel> kernels = linked(options).kernels;
    LinkedKernel known = kernels.get(kernel);
    if (known == null) {
      known = link(kernel, options);
      if (known.late() == null) {
        kernels.put(kernel, known);
      }
    }
    return known;
  }

  private Linked linked(LinkOptions options) {
    return linked.computeIfAbsent(options, this::checked);
  }

  private Linked checked(LinkOptions options) {
    SortedMap<Integer, Refusal> refusals = refusals();
    if (module().isLate()) {
      return new Linked(new HashMap<>(), refusals);
    }
    return new Linked(
        KernelLinker.check(analysis, options, new KernelLinker.Refusals(refusals, new TreeMap<>())),
        refusals);
  }
}
