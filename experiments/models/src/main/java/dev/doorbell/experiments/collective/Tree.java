package dev.doorbell.experiments.collective;

import dev.doorbell.experiments.collective.Schedule.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;

/**
 * An all-reduce goes up and down two binary trees, each with half of the data. A rank has children
 * in one of them at most, so every port sends and receives about as much (Sanders, Speck and
 * Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan). A broadcast and a
 * reduce take the binomial tree of their root.
 */
final class Tree {
  private final Call call;
  private final Schedule.Builder in;
  private final int[] parents;
  private final List<List<Integer>> children = new ArrayList<>();
  private final int root;
  private final List<Piece> pieces;

  /** Messages of each rank to its parent and from it. */
  private final Map<Piece, Map<Integer, Message>> up = new HashMap<>();

  private final Map<Piece, Map<Integer, Message>> down = new HashMap<>();

  private Tree(Call call, Schedule.Builder in, int[] parents, List<Piece> pieces) {
    this.call = call;
    this.in = in;
    this.parents = parents;
    this.pieces = pieces;
    for (int rank = 0; rank < parents.length; rank++) {
      children.add(new ArrayList<>());
    }
    int top = 0;
    for (int rank = 0; rank < parents.length; rank++) {
      if (parents[rank] < 0) {
        top = rank;
      } else {
        children.get(parents[rank]).add(rank);
      }
    }
    this.root = top;
    for (Piece piece : pieces) {
      up.put(piece, new HashMap<>());
      down.put(piece, new HashMap<>());
    }
  }

  static void of(Call call, Schedule.Builder in) {
    List<Piece> pieces = in.pieces(0, call.sendBytes());
    switch (call.collective()) {
      case ALL_REDUCE -> allReduce(call, in);
      case BROADCAST -> {
        Tree tree = new Tree(call, in, binomial(call.ranks(), call.root()), pieces);
        tree.putDown(piece -> call.sendAt(tree.root) + piece.at());
        tree.passDown();
        tree.receive();
        Direct.keepOwn(call, in, call.root(), 0, 0);
      }
      case REDUCE -> {
        Tree tree = new Tree(call, in, binomial(call.ranks(), call.root()), pieces);
        tree.sendUp();
        tree.reduceUp();
      }
      default -> throw new IllegalArgumentException("no tree makes " + call.collective());
    }
  }

  /**
   * A rank executes its steps one after the other. So that it never holds up one tree by waiting
   * for the other, what it does as a leaf comes first on the way up, and last on the way down.
   */
  private static void allReduce(Call call, Schedule.Builder in) {
    long bytes = call.sendBytes();
    int[] parents = binary(call.ranks());
    List<Tree> trees = new ArrayList<>();
    if (in.packs(bytes)) {
      trees.add(new Tree(call, in, parents, in.pieces(0, bytes)));
    } else {
      long half = Math.min(bytes, Call.padded((bytes + 1) / 2));
      trees.add(new Tree(call, in, parents, in.pieces(0, half)));
      trees.add(new Tree(call, in, mirrored(parents), in.pieces(half, bytes)));
    }
    trees.forEach(Tree::sendUp);
    trees.forEach(Tree::reduceUp);
    trees.forEach(Tree::passDown);
    trees.forEach(Tree::receive);
  }

  /**
   * A binary tree whose inner nodes are even: the parent of a rank has its lowest one bit replaced
   * by the next higher one, or taken away where there is no such rank.
   *
   * @return the parent of each rank, -1 of the root
   */
  static int[] binary(int ranks) {
    int[] parents = new int[ranks];
    parents[0] = -1;
    for (int rank = 1; rank < ranks; rank++) {
      int bit = Integer.lowestOneBit(rank);
      int without = rank ^ bit;
      int up = without | bit << 1;
      parents[rank] = up < ranks ? up : without;
    }
    return parents;
  }

  /** The same tree with other ranks in it, so that those that were leaves are inner nodes. */
  static int[] mirrored(int[] parents) {
    int ranks = parents.length;
    int[] other = new int[ranks];
    for (int rank = 0; rank < ranks; rank++) {
      int parent = parents[rank];
      other[moved(rank, ranks)] = parent < 0 ? -1 : moved(parent, ranks);
    }
    return other;
  }

  private static int moved(int rank, int ranks) {
    return ranks % 2 == 0 ? ranks - 1 - rank : (rank + 1) % ranks;
  }

  /** Parents in the binomial tree of a root; those of a rank's children are nearest to it last. */
  static int[] binomial(int ranks, int root) {
    int[] parents = new int[ranks];
    Arrays.fill(parents, -1);
    for (int place = 1; place < ranks; place++) {
      parents[(root + place) % ranks] = (root + (place & (place - 1))) % ranks;
    }
    return parents;
  }

  private boolean leaf(int rank) {
    return children.get(rank).isEmpty();
  }

  /** Leaves send all they have to their parents. */
  private void sendUp() {
    for (Piece piece : pieces) {
      for (int rank = 0; rank < parents.length; rank++) {
        if (leaf(rank)) {
          of(up, piece)
              .put(
                  rank,
                  in.at(rank).send(parents[rank], call.sendAt(rank) + piece.at(), piece.bytes()));
        }
      }
    }
  }

  /** The others reduce what comes from below; of an all-reduce, the root sends the result down. */
  private void reduceUp() {
    for (Piece piece : pieces) {
      long result = call.receiveAt(root) + piece.at();
      Schedule.Draft last = reduce(root, piece, result);
      if (call.collective() == Collective.ALL_REDUCE) {
        put(last, root, result, piece);
      } else {
        last.end();
      }
    }
  }

  /** The last step of a rank that reduces what its children have, at {@code into}. */
  private Schedule.Draft reduce(int rank, Piece piece, long into) {
    List<Integer> below = children.get(rank);
    for (int child : below) {
      if (!leaf(child)) {
        boolean all = call.collective() == Collective.ALL_REDUCE;
        long sum = all ? call.receiveAt(child) + piece.at() : in.scratch(child, piece.bytes());
        of(up, piece).put(child, reduce(child, piece, sum).send(rank, sum, piece.bytes()));
      }
    }
    long first = call.sendAt(rank) + piece.at();
    for (int i = 0; i < below.size() - 1; i++) {
      in.at(rank).reduce(sent(up, piece, below.get(i)), first, into).end();
      first = into;
    }
    return in.at(rank).reduce(sent(up, piece, below.getLast()), first, into);
  }

  private static Map<Integer, Message> of(Map<Piece, Map<Integer, Message>> messages, Piece piece) {
    return Objects.requireNonNull(messages.get(piece));
  }

  private static Message sent(Map<Piece, Map<Integer, Message>> messages, Piece piece, int rank) {
    return Objects.requireNonNull(of(messages, piece).get(rank));
  }

  /** The root sends all pieces to its children. */
  private void putDown(ToLongFunction<Piece> source) {
    pieces.forEach(piece -> put(in.at(root), root, source.applyAsLong(piece), piece));
  }

  /** Sends a piece to a rank's children, the one with most ranks below it first. */
  private void put(Schedule.Draft draft, int rank, long source, Piece piece) {
    Schedule.Draft step = draft;
    for (int child : children.get(rank).reversed()) {
      long into = call.receiveAt(child) + piece.at();
      of(down, piece).put(child, step.put(child, source, into, piece.bytes()));
      step = in.at(rank);
    }
  }

  /** Ranks between the root and the leaves pass on what comes from above. */
  private void passDown() {
    for (Piece piece : pieces) {
      passDown(root, piece);
    }
  }

  private void passDown(int rank, Piece piece) {
    for (int child : children.get(rank)) {
      if (!leaf(child)) {
        Schedule.Draft draft = in.at(child).receive(sent(down, piece, child));
        put(draft, child, call.receiveAt(child) + piece.at(), piece);
        passDown(child, piece);
      }
    }
  }

  /** Leaves receive what comes from above. */
  private void receive() {
    for (Piece piece : pieces) {
      for (int rank = 0; rank < parents.length; rank++) {
        if (leaf(rank)) {
          in.at(rank).receive(sent(down, piece, rank)).end();
        }
      }
    }
  }
}
