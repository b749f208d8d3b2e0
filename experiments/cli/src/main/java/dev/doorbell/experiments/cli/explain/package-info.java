/** Says what lies in pasted text; every part of it is read by the command that is made for it. */
@NullMarked
package dev.doorbell.experiments.cli.explain;

import org.jspecify.annotations.NullMarked;
