package dev.doorbell.experiments.results.figures;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import dev.doorbell.experiments.results.formats.ChromeTrace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Stream;

/** One message from its first store to its CQE: a lane for each place, time to the right. */
record TimelineFigure(String name, Timeline timeline, String basisNote, Provenance provenance)
    implements Chart {

  static final String SAMPLES_NOTE = "one message, every event";

  /** Places in the order in which a message meets them. */
  List<String> lanes() {
    List<String> order =
        List.of("rank0.gpu0", "rank0.cpu0", "rank0.nic0", "rank1.nic0", "rank1.cpu0", "rank1.gpu0");
    List<String> present =
        timeline.steps().stream()
            .flatMap(step -> Stream.of(step.place(), step.target()))
            .distinct()
            .sorted()
            .toList();
    return Stream.concat(
            order.stream().filter(present::contains),
            present.stream().filter(place -> !order.contains(place)))
        .toList();
  }

  @Override
  public List<?> panels() {
    return List.of(timeline);
  }

  @Override
  public Drawing draw(double width) {
    return TimelineChart.draw(this, width);
  }

  @Override
  public List<TimelineFigure> panelByPanel() {
    return List.of(this);
  }

  @Override
  public SequencedMap<String, String> pgfplots() {
    return TimelinePgf.of(this);
  }

  @Override
  public SequencedMap<String, String> beside() {
    SequencedMap<String, String> files = new LinkedHashMap<>();
    files.put(
        Sheet.identifier(name) + ".perfetto.json", ChromeTrace.of(timeline, Basis.MODELLED.word()));
    return files;
  }
}
