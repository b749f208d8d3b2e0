package dev.doorbell.experiments.results.formats;

import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.plan.Timeline.Step;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import tools.jackson.databind.json.JsonMapper;

/**
 * A timeline as Chrome trace events in JSON, which Perfetto and {@code chrome://tracing} open: one
 * process a rank, one thread a place, and an arrow for everything that travels. Their time is in
 * microseconds; fractions are nanoseconds.
 */
public final class ChromeTrace {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final List<Map<String, Object>> events = new ArrayList<>();
  private final Map<String, Integer> threads = new LinkedHashMap<>();
  private int flows;

  private ChromeTrace() {}

  /**
   * Writes a timeline.
   *
   * @param basis the word for its times
   */
  public static String of(Timeline timeline, String basis) {
    ChromeTrace trace = new ChromeTrace();
    timeline.steps().forEach(trace::add);
    List<Object> all = new ArrayList<>(trace.names());
    all.addAll(trace.events);
    SequencedMap<String, Object> root = new LinkedHashMap<>();
    root.put("displayTimeUnit", "ns");
    root.put("otherData", about(timeline, basis));
    root.put("traceEvents", all);
    return MAPPER.writeValueAsString(root) + "\n";
  }

  private static SequencedMap<String, Object> about(Timeline timeline, String basis) {
    SequencedMap<String, Object> about = new LinkedHashMap<>();
    about.put("title", timeline.title());
    about.put("basis", basis);
    return about;
  }

  private void add(Step step) {
    SequencedMap<String, Object> slice = event("X", step.place(), step.from());
    slice.put("dur", (step.until() - step.from()) / 1e3);
    slice.put("name", step.kind().words());
    slice.put("cat", step.kind().travels() ? "link" : "device");
    SequencedMap<String, Object> details = new LinkedHashMap<>();
    details.put("text", step.text());
    details.put("bytes", step.bytes());
    slice.put("args", details);
    events.add(slice);
    if (step.kind().travels()) {
      int flow = ++flows;
      events.add(arrow("s", step.place(), step.from(), step, flow));
      SequencedMap<String, Object> end = arrow("f", step.target(), step.until(), step, flow);
      end.put("bp", "e");
      events.add(end);
    }
  }

  private SequencedMap<String, Object> arrow(
      String phase, String place, long nanos, Step step, int flow) {
    SequencedMap<String, Object> arrow = event(phase, place, nanos);
    arrow.put("name", step.kind().words());
    arrow.put("cat", "link");
    arrow.put("id", flow);
    return arrow;
  }

  private SequencedMap<String, Object> event(String phase, String place, long nanos) {
    SequencedMap<String, Object> event = new LinkedHashMap<>();
    event.put("ph", phase);
    event.put("pid", rank(place));
    event.put("tid", threads.computeIfAbsent(place, _ -> threads.size() + 1));
    event.put("ts", nanos / 1e3);
    return event;
  }

  private List<Object> names() {
    List<Object> names = new ArrayList<>();
    threads.forEach(
        (place, thread) -> {
          names.add(name("process_name", place, thread, "rank " + rank(place)));
          names.add(name("thread_name", place, thread, place));
        });
    return names;
  }

  private static Object name(String what, String place, int thread, String text) {
    SequencedMap<String, Object> name = new LinkedHashMap<>();
    name.put("ph", "M");
    name.put("name", what);
    name.put("pid", rank(place));
    name.put("tid", thread);
    name.put("args", Map.of("name", text));
    return name;
  }

  /** The number in a place such as {@code rank1.gpu0}. */
  private static int rank(String place) {
    return Integer.parseInt(place.replaceAll("^rank(\\d+).*$", "$1"));
  }
}
