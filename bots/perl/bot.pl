#!/usr/bin/perl
# The simplest complete bot in Perl: it asks for the legal answers and picks one by chance.
use strict;
use warnings;
use JSON::PP;    # comes with Perl itself

$| = 1;          # flush after each line
my $json   = JSON::PP->new->utf8->canonical;
my $chance = 0;

sub send_line { print $json->encode(shift), "\n" }

while (my $line = <STDIN>) {
    next if $line !~ /\S/;
    my $message = $json->decode($line);
    my $type    = $message->{type} // '';
    if ($type eq 'hello') {
        send_line({type => 'ready', name => 'perl', legal => 'canonical'});
    }
    elsif ($type eq 'deal') {
        $chance = ($message->{seed} // 0) % 2**32;
    }
    elsif ($type eq 'move' and @{$message->{legal} // []}) {
        my @legal = @{$message->{legal}};
        $chance = ($chance * 1664525 + 1013904223) % 2**32;
        my $pick = $legal[($chance >> 16) % @legal];
        send_line({%$pick, id => $message->{id}});
    }
}
