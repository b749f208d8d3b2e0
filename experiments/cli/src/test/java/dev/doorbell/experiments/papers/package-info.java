/** Checks of what the papers folder says, against the configs and the numbers that it rests on. */
@NullMarked
package dev.doorbell.experiments.papers;

import org.jspecify.annotations.NullMarked;
