package dev.doorbell.experiments.config.document;

import dev.doorbell.core.problem.Problem;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/** Collects the problems of a document with the line and column of the node that caused each. */
public class NodeProblems {
  private final String file;
  private final DocumentKind kind;
  private final List<Problem> problems = new ArrayList<>();

  /**
   * @param file name for problems
   */
  public NodeProblems(String file, DocumentKind kind) {
    this.file = file;
    this.kind = kind;
  }

  /** Adds a problem at a node. */
  public final void problem(Node at, String code, String what) {
    problems.add(Problem.of(code, DocumentKind.where(file, at.getStartMark()), what));
  }

  /** Returns how many problems have been added. */
  public final int count() {
    return problems.size();
  }

  /** Returns the problems in the order of the file. */
  public final List<Problem> inOrder() {
    return problems.stream().sorted(Comparator.comparing(ProblemPosition::of)).toList();
  }

  /**
   * Returns the keys of a mapping with their nodes, and adds a problem for each key that is given
   * twice or is not a word, or if the node is not a mapping.
   *
   * @param title of the mapping, for problems
   */
  public final SequencedMap<String, NodeTuple> entries(Node node, String title) {
    SequencedMap<String, NodeTuple> entries = new LinkedHashMap<>();
    if (!(node instanceof MappingNode mapping)) {
      problem(node, kind.wrongShape(), "%s must be a mapping of keys to values".formatted(title));
      return entries;
    }
    for (NodeTuple tuple : mapping.getValue()) {
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        problem(tuple.getKeyNode(), kind.wrongShape(), "a key must be a word");
      } else if (entries.putIfAbsent(key.getValue(), tuple) != null) {
        problem(key, kind.duplicate(), "key '%s' is given twice".formatted(key.getValue()));
      }
    }
    return entries;
  }
}
