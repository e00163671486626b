import "maloko/embedded";
