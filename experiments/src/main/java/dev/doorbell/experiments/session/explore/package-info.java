/** Builds the worlds of an exploration and runs them once a schedule. */
@NullMarked
package dev.doorbell.experiments.session.explore;

import org.jspecify.annotations.NullMarked;
