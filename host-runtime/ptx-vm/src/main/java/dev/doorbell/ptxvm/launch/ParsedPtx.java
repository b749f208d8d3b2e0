package dev.doorbell.ptxvm.launch;

import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What was parsed lately. A sweep or an exploration loads the same text hundreds of times, into a
 * new world each; parsing it costs more than a short run.
 */
final class ParsedPtx {
  private static final int KEPT = 4;

  private static final Map<Source, PtxParser.Result> RECENT =
      new LinkedHashMap<>(KEPT, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Source, PtxParser.Result> eldest) {
          return size() > KEPT;
        }
      };

  private record Source(String name, String text) {}

  private ParsedPtx() {}

  static PtxParser.Result of(String name, String text) {
    Source source = new Source(name, text);
    synchronized (RECENT) {
      return RECENT.computeIfAbsent(source, key -> PtxParser.parse(key.name(), key.text()));
    }
  }
}
