package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.formats.ChromeTrace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Stream;

/** One message from its first store to its CQE: a lane for each place, time to the right. */
public record TimelineFigure(FigureNotes notes, Timeline timeline) implements Figure {

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
  public Drawing draw(double width) {
    return new TimelineChart(this).drawing(width);
  }

  @Override
  public SequencedMap<String, String> companions() {
    SequencedMap<String, String> files = new LinkedHashMap<>();
    files.put(notes.file(".perfetto.json"), ChromeTrace.of(timeline, notes.provenance().basis()));
    return files;
  }
}
