# The dumbbell of Sojourn's scenarios in ns-2 2.35, for comparison and for timing.
#
#   ns dumbbell.tcl flows 120 rate 8e6 law red min 50 max 150 ecn 1 seed 3
#   ns dumbbell.tcl flows 40 rate 10e6 law pi changes "40 6e6 70 10e6"
#   ns dumbbell.tcl flows 63 mice 126 mouse_packets 12 pairs 9
#
# "changes": times, and the rate from each on, both ways. "mice": slots for short flows; "pairs": pairs of hosts that
# the flows share in turn (0: each has its own); "keeps_window 1": a slot that lost a SYN begins with one packet ever after. "quiet 1" counts acknowledged packets only, for timing.
# The shared parts are in parts.tcl.

source [file join [file dirname [info script]] parts.tcl]
read_options {
    flows 120  rate 8e6  delay 0.020  buffer 300  changes ""  quiet 0
    access_rate 10e6  access_from 0.038  access_to 0.042
    mice 0  mouse_packets 12  keeps_window 0  pairs 0
}
begin
set left [$ns node]
set right [$ns node]
managed_link $left $right $is(rate) $is(delay) $is(buffer)
route $left -default $right
route $right -default $left
if {!$is(quiet)} { watch "" $left $right $is(rate) }
foreach {time rate} $is(changes) { change_rate "" $left $right $time $rate }

set pairs [expr {$is(pairs) ? $is(pairs) : $is(flows)}]
for {set i 0} {$i < $pairs} {incr i} {
    set delay [spread $is(access_from) $is(access_to) $i $pairs]
    set source($i) [host $left $is(access_rate) $delay]
    set sink($i) [host $right $is(access_rate) $delay]
}
for {set i 0} {$i < $is(flows)} {incr i} { greedy bulk $source([expr {$i % $pairs}]) $sink([expr {$i % $pairs}]) }
for {set i 0} {$i < $is(mice)} {incr i} { mouse mice $source([expr {$i % $pairs}]) $sink([expr {$i % $pairs}]) }

proc report {} {
    global is
    report_link ""
    report_class bulk ""
    if {$is(mice)} { report_mice mice }
}
# Acknowledged packets: the cheap count, for timing.
proc report_acknowledged {} {
    global senders
    set acked 0
    foreach sender $senders(bulk) { incr acked [$sender set ack_] }
    puts "acknowledged_packets $acked"
    exit 0
}
if {$is(quiet)} {
    $ns at $is(duration) report_acknowledged
    $ns run
}
measure report
