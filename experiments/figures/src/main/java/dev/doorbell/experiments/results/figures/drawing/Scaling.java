package dev.doorbell.experiments.results.figures.drawing;

import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import java.util.List;

/** Makes a drawing larger or smaller with all that is on it: texts, lines, markers, dashes. */
final class Scaling {
  private final double factor;

  Scaling(double factor) {
    this.factor = factor;
  }

  List<Node> nodes(List<Node> nodes) {
    return nodes.stream().map(this::node).toList();
  }

  private Node node(Node node) {
    return switch (node) {
      case Node.Group(String id, String role, List<Node> inner) ->
          new Node.Group(id, role, nodes(inner));
      case Node.Stroke(Outline outline, Paint paint, double width, Dash dash) ->
          new Node.Stroke(outline.scaled(factor), paint, width * factor, dash(dash));
      case Node.Fill(Outline outline, Paint paint) -> new Node.Fill(outline.scaled(factor), paint);
      case Node.Label label ->
          new Node.Label(
              label.text(),
              label.x() * factor,
              label.y() * factor,
              label.size() * factor,
              label.anchor(),
              label.turn(),
              label.paint());
    };
  }

  private Dash dash(Dash dash) {
    return new Dash(dash.on() * factor, dash.off() * factor);
  }
}
