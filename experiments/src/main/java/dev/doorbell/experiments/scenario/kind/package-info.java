/**
 * Kinds of points, each with settings and metrics of its own, and how a point finds the kind that
 * runs it. Knows none of them: the session lists them.
 */
@NullMarked
package dev.doorbell.experiments.scenario.kind;

import org.jspecify.annotations.NullMarked;
